package dev.clew;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.clew.errors.ArgumentInvalidException;
import dev.clew.errors.IdInvalidException;
import dev.clew.errors.StateInvalidException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a client refuses before it asks anyone. */
class ClientTest {
  @Test
  void whichTargetsAreOnThisMachine() {
    for (String target :
        List.of(
            "localhost:1",
            "localhost",
            "127.0.0.1:1",
            "127.1.2.3:1",
            "[::1]:1",
            "dns:///localhost:1",
            "unix:/run/clew")) {
      assertTrue(Target.isLocal(target), target);
    }
    for (String target :
        List.of("clew.example.org:443", "10.0.0.1:1", "[2001:db8::1]:1", "localhost.example:1")) {
      assertFalse(Target.isLocal(target), target);
    }
  }

  @Test
  void aTokenIsNotSentWhereAnyoneCanReadIt() {
    Client.Builder there = Client.builder().target("clew.example.org:1").token("secret");
    assertEquals("token", assertThrows(ArgumentInvalidException.class, there::build).field());
    there.insecureToken().build().close();
    Client.builder().target("localhost:1").token("secret").build().close();
    Client.builder().target("clew.example.org:1").token("secret").tls().build().close();
  }

  @Test
  void aThreadHasAnId() {
    try (Client client = Client.create("localhost:1")) {
      assertThrows(IdInvalidException.class, () -> client.app("support").thread(""));
    }
  }

  @Test
  void halfACharacterIsNotSentAsAnotherOne() {
    assertThrows(ArgumentInvalidException.class, () -> Input.text("\ud800"));
    assertThrows(StateInvalidException.class, () -> Input.values("{\"a\":\"\ud800\"}"));
  }
}
