package dev.ratelimit.spring.rules.expression;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.request.Condition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.expression.spel.standard.SpelExpressionParser;

class ShownExpressionTest {

    private static String shown(String text) {
        return ShownExpression.of(new SpelExpressionParser().parseRaw(text).getAST(), text);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            #request.getHeader('X-Beta') != null | #request.getHeader('X-Beta') != null
            #request.getHeader('X-Probe') == 'hunter2' | #request.getHeader('X-Probe') == '…'
            'hunter2' == #request.getHeader('X') ? 1 : 5 | '…' == #request.getHeader('X') ? 1 : 5
            #request.getHeader('X').equals('hunter2') | #request.getHeader('X').equals('…')
            #request.getHeader('X').concat('a').length() > 3 | #request.getHeader('X').concat('…').length() > 3
            {'a', 'b'}.contains(#ip) | {'…', '…'}.contains(#ip)
            #request.method == "POST" | #request.method == '…'
            #request.contentLength / 1000 + 1 | #request.contentLength / 1000 + 1
            """)
    void of_texts_areHiddenWhereTheyMayBeSecrets(String text, String expected) {
        assertThat(shown(text)).isEqualTo(expected);
    }

    @Test
    void condition_comparedWithASecret_isDescribedWithoutIt() {
        Condition condition = RequestExpression.condition("#request.getHeader('X-Probe') == 'hunter2'", false);

        assertThat(condition.written()).isEqualTo("#request.getHeader('X-Probe') == '…'");
    }
}
