package dev.clew;

import java.util.ArrayList;
import java.util.List;

/** Reads lists that come in pages. */
final class Paging {
  /** One page: what is on it, and the token of the next, empty at the end. */
  record Page<T>(List<T> items, String next) {}

  /** Asks for a page of at most so many, by its token. */
  interface Asking<T> {
    Page<T> ask(int size, String token);
  }

  private Paging() {}

  /** Everything, or the first so many. */
  static <T> List<T> all(int limit, int pageSize, Asking<T> asking) {
    List<T> found = new ArrayList<>();
    String token = "";
    do {
      Page<T> page = asking.ask(Math.min(pageSize, limit - found.size()), token);
      found.addAll(page.items());
      token = page.next();
    } while (!token.isEmpty() && found.size() < limit);
    return List.copyOf(found);
  }

  /** The limit, unless it leaves nothing to list. */
  static int checked(int limit) {
    if (limit < 1) {
      throw Refusals.argument("limit", "at least 1; Integer.MAX_VALUE for all");
    }
    return limit;
  }
}
