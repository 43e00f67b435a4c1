package dev.ratelimit.spring.rules.key;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.Parameters;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

/** What key parts need, and who may have written their values. */
class KeyPartTest {

    private static BudgetKey key(String text) {
        return new KeyParser(new Resolvers(new DefaultListableBeanFactory())).parse(List.of(text), MissingKey.IP);
    }

    private static KeyPart part(String text) {
        return key(text).parts().get(0);
    }

    @ParameterizedTest
    @CsvSource({
        "user, true, true",
        "ip, false, false",
        "endpoint, false, false",
        "method, false, false",
        "principal, true, true",
        "session, true, false",
        "route, true, false",
        "header:A, false, false",
        "query:q, false, false",
        "path:id, false, false",
        "#ip, true, false"
    })
    void needs_eachPart_whatItsValueComesFrom(String text, boolean security, boolean principal) {
        assertThat(part(text).needsSecurity()).isEqualTo(security);
        assertThat(part(text).needsPrincipal()).isEqualTo(principal);
    }

    @ParameterizedTest
    @CsvSource({"header:X-Key, x-key", "cookie:c,", "query:q,", "#request.getHeader('X-Key'),", "user,", "ip,"})
    void header_isThatOfTheValue(String text, @Nullable String header) {
        assertThat(part(text).header()).isEqualTo(header);
    }

    @ParameterizedTest
    @CsvSource({
        "user, alice, true",
        "user, ' ', false",
        "header:A, alice, true",
        "header:A, ' ', false",
        "ip, 10.0.0.1, false",
        "route, one, false",
        "method, GET, false"
    })
    void appendTo_writtenValue_isWhetherThePartCanHaveIt(String text, String written, boolean appended) {
        KeyEncoder key = new KeyEncoder(false, 32, 64);

        assertThat(part(text).appendTo(key, written)).isEqualTo(appended);
        assertThat(key.toString().isEmpty()).isEqualTo(!appended);
    }

    @Test
    void parse_commasOfExpressions_splitNothing() {
        List<String> parts = List.of(
                "#request.getHeader('a,b')", "#request.getHeader('(').concat(',')", "#ip.replace('.', {'-','_'}[0])");

        assertThat(key(String.join(", ", parts)).parts())
                .containsExactlyElementsOf(parts.stream()
                        .map(text -> KeyPart.expression(text, Parameters.NONE))
                        .toList());
    }

    @Test
    void equals_sameText_isTheSamePart() {
        assertThat(part("header:A")).isEqualTo(part("header:a")).hasSameHashCodeAs(part("header:a"));
        assertThat(part("header:A").hashCode()).isNotEqualTo(part("header:B").hashCode());
        assertThat(part("header:A")).isNotEqualTo(part("header:B"));
    }

    @Test
    void toString_expressionWithASecret_isWithoutIt() {
        KeyPart part = part("#request.getHeader('X-Tenant').concat('hunter2')");

        assertThat(part).hasToString("#request.getHeader('X-Tenant').concat('…')");
        assertThat(part).isNotEqualTo(part("#request.getHeader('X-Tenant').concat('other')"));
    }
}
