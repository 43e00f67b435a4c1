package dev.ratelimit.spring.rules.key;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.request.KeyEncoder;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class KeyKindTest {

    @Test
    void letter_differsFromAllOthers() {
        List<Character> others = List.of(KeyEncoder.HASHED, KeyEncoder.SHARED);

        // a principal has the budget of the user of the same name
        assertThat(Stream.of(KeyKind.values())
                        .filter(kind -> kind != KeyKind.PRINCIPAL)
                        .map(KeyKind::letter))
                .doesNotHaveDuplicates()
                .doesNotContainAnyElementsOf(others);
        assertThat(KeyKind.IP.letter()).isEqualTo(KeyEncoder.ADDRESS);
        assertThat(KeyKind.PRINCIPAL.letter()).isEqualTo(KeyKind.USER.letter());
    }
}
