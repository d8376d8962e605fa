package dev.clew;

import java.util.Locale;

/** Enums of the contract as the words that users read. */
final class Words {
  private Words() {}

  /**
   * {@code FAILURE_CODE_MODEL_UNAVAILABLE} as {@code model_unavailable}; empty for what is
   * unspecified or not known to this version.
   */
  static String of(Enum<?> value, String prefix) {
    String name = value.name();
    boolean known = name.startsWith(prefix) && !name.equals(prefix + "UNSPECIFIED");
    return known ? name.substring(prefix.length()).toLowerCase(Locale.ROOT) : "";
  }
}
