package dev.ratelimit.spring.rules.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestExpressionTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "#request.method == 'get' | 'get'; write 'GET'",
                "'Post' != #request.getMethod() | 'Post'; write 'POST'",
                "#ip == 'x' or !(#request?.method == 'head') | 'head'; write 'HEAD'"
            })
    void new_methodComparedWithLowerCase_saysWhatToWrite(String expression, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RequestExpression(expression))
                .withMessage("the method is in upper case, so it is never " + message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#request.method == 'GET'",
                "#request.method == 'purge'",
                "#request.method.equalsIgnoreCase('get')",
                "#request.method.toLowerCase() == 'get'",
                "#request.getHeader('X-Method') == 'get'"
            })
    void new_otherComparisons_areAccepted(String expression) {
        assertThat(new RequestExpression(expression)).isNotNull();
    }

    @ParameterizedTest
    @CsvSource({
        "#principal?.name, true",
        "#request.userPrincipal, true",
        "#request.remoteUser == null, true",
        "!#request.isUserInRole('X'), true",
        "#request.session == null, false",
        "#ip, false"
    })
    void needsPrincipal_readsTheCaller(String expression, boolean needed) {
        assertThat(new RequestExpression(expression).reads().includeCaller()).isEqualTo(needed);
    }
}
