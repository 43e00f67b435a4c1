package dev.ratelimit.spring.rules.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.spring.rules.request.Cost;
import dev.ratelimit.spring.rules.request.Parameters;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.request.UncertainParameterException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What expressions can read of a request, on any web stack, and what they cannot do with it. */
class ExpressionVariablesTest {

    private final RecordedRequest request = new RecordedRequest("POST", "/orders/7")
            .from("192.0.2.1")
            .with("X-A", "one")
            .with("X-A", "two")
            .with("X-Cost", "5")
            .with("Content-Type", "text/plain")
            .with("Content-Length", "2147483648")
            .withCookie("c", "crumb")
            .withQuery("a=1&b=2&a=3")
            .withAttribute("tenant", "acme")
            .by("alice")
            .inSession("ID");

    private @Nullable String value(String expression) {
        return new RequestExpression(expression).key(RecordedRequest.context(request, false));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "#request.method | POST",
                "#request.requestURL | https://api.example.org:8443/app/orders/7",
                "#request.requestURI | /app/orders/7",
                "#request.scheme | https",
                "#request.secure | true",
                "#request.isSecure() | true",
                "#request.serverName | api.example.org",
                "#request.queryString | a=1&b=2&a=3",
                "#request.getHeader('x-a') | one",
                "#request.getHeaders('X-A').nextElement() | one",
                "#request.headerNames.nextElement() | x-a",
                "#request.getIntHeader('X-Cost') | 5",
                "#request.getIntHeader('X-None') | -1",
                "#request.contentType | text/plain",
                "#request.contentLength | -1",
                "#request.contentLengthLong | 2147483648",
                "#request.cookies.?[name == 'c'][0].value | crumb",
                "#request.getParameter('b') | 2",
                "#request.getParameterValues('a')[1] | 3",
                "#request.parameterNames.nextElement() | a",
                "#request.parameterMap['b'][0] | 2",
                "#request.userPrincipal.name | alice",
                "#request.remoteUser | alice",
                "#request.isUserInRole('USER') | true",
                "#request.isUserInRole('ADMIN') | false",
                "#request.session.id | ID",
                "#request.remoteAddr | 192.0.2.1",
                "#request.getAttribute('tenant') | acme",
                "#principal.name | alice",
                "#ip | 192.0.2.1"
            })
    void expression_ofEachMember_isItsValue(String expression, String expected) {
        assertThat(value(expression)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "#request.contentLength / 1000.0, 1", // of unknown length: -1
        "#request.contentLengthLong / 1000000000.0, 3",
        "#request.contentLengthLong * 0.0, 0",
        "#request.contentLengthLong / 0.0, 9223372036854775807",
        "#request.contentLength * 0.0 / 0.0, 1",
        "#request.getAttribute('tenant'), 1" // a text
    })
    void cost_ofEachValue_isRoundedUpAndOneIfItFails(String expression, long permits) {
        Cost cost = RequestExpression.cost(expression, Parameters.NONE);

        assertThat(cost.permits().applyAsLong(RecordedRequest.context(request, false)))
                .isEqualTo(permits);
    }

    /** A decimal number whose digits nobody may write out. */
    private static final class Watched extends BigDecimal {

        private static final long serialVersionUID = 1L;

        Watched(String number) {
            super(number);
        }

        @Override
        public BigDecimal add(BigDecimal other) {
            throw new AssertionError("calculated");
        }

        @Override
        public BigDecimal subtract(BigDecimal other) {
            return add(other);
        }

        @Override
        public BigDecimal multiply(BigDecimal other) {
            return add(other);
        }

        @Override
        public BigDecimal divide(BigDecimal other, int scale, RoundingMode rounding) {
            return add(other);
        }

        @Override
        public BigDecimal remainder(BigDecimal other) {
            return add(other);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "n + 1, 1e1001",
        "1 - (n % 7), 1e1001",
        "n - 1, 1e-300000000",
        "2 * n + 1, 1e1001",
        "n / 100, 1e300000000",
        "true ? n / 100 : 1, 1e300000000"
    })
    void calculationWithMoreDigitsThanAnybodyNeeds_isNotMade(String calculation, String number) {
        String expression =
                calculation.replace("n ", "#request.getAttribute('n') ").replace("* n", "* #request.getAttribute('n')");
        RequestContext context =
                RecordedRequest.context(new RecordedRequest().withAttribute("n", new Watched(number)), false);

        Cost cost = RequestExpression.cost(expression, Parameters.NONE);

        assertThat(cost.permits().applyAsLong(context)).isEqualTo(Long.MAX_VALUE);
        assertThat(new RequestExpression(expression).key(context)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"#request.getParameter('n') == 'all' ? 50 : 1", "#request.getParameterValues('n').length"})
    void parameterThatIsUncertain_costsMoreThanAnyLimit_andIsNoKey(String expression) {
        RequestContext context = RecordedRequest.context(
                new RecordedRequest() {
                    @Override
                    public List<String> parameters(String name) {
                        throw new UncertainParameterException("the parameter is in the query and in the form");
                    }
                },
                false);

        Cost cost = RequestExpression.cost(expression, Parameters.NONE);

        assertThat(cost.permits().applyAsLong(context)).isEqualTo(Long.MAX_VALUE);
        assertThat(new RequestExpression(expression).key(context)).isNull();
    }

    /** Handlers take the first, the last, or all joined. */
    @Test
    void parameterWithSeveralValues_isUncertain() {
        RequestContext context = RecordedRequest.context(request, false);

        assertThat(value("#request.getParameter('a')")).isNull();
        assertThat(new RequestExpression("#request.getParameter('a')").isUncertain(context))
                .isTrue();
        assertThat(new RequestExpression("#request.getParameter('none')").isUncertain(context))
                .isFalse();
    }

    @Test
    void calculationWithOtherNumbers_isMade() {
        RequestContext context =
                RecordedRequest.context(new RecordedRequest().withAttribute("n", new BigDecimal("1e1000")), false);

        assertThat(new RequestExpression("#request.getAttribute('n') % 7 + 1").key(context))
                .isEqualTo(BigDecimal.TEN
                        .pow(1000)
                        .remainder(BigDecimal.valueOf(7))
                        .add(BigDecimal.ONE)
                        .toString());
    }

    @Test
    void expression_askedOften_isCompiledAndSaysTheSame() {
        RequestExpression expression = new RequestExpression("#request.getHeader('X-A')");

        for (int i = 0; i < 1_000; i++) {
            assertThat(expression.key(RecordedRequest.context(request, false))).isEqualTo("one");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#request.logout()",
                "#request.inputStream",
                "#request.reader",
                "#request.getSession(true)",
                "#request.setAttribute('a', 'b')",
                "#request.changeSessionId()",
                "#request.servletContext",
                "#request.class",
                "#request.getClass()"
            })
    void expression_thatDoesMoreThanRead_isRefused(String expression) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RequestExpression(expression))
                .withMessageStartingWith("#request has no ");
    }

    @Test
    void expression_ofARequestWithoutMuch_isMissing() {
        RequestContext bare = RecordedRequest.context(new RecordedRequest(), false);

        for (String expression : new String[] {
            "#request.session?.id",
            "#request.queryString",
            "#request.getHeader('X-A')",
            "#request.getParameter('a')",
            "#request.getParameterValues('a')",
            "#request.contentType",
            "#request.remoteUser",
            "#request.getAttribute('a')"
        }) {
            assertThat(new RequestExpression(expression).key(bare))
                    .as(expression)
                    .isNull();
        }
    }
}
