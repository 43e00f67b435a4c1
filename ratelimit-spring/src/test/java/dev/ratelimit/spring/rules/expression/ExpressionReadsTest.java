package dev.ratelimit.spring.rules.expression;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.request.Parameters;
import dev.ratelimit.spring.rules.request.Reads;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What expressions read, so that a web stack fetches it before. */
class ExpressionReadsTest {

    private static Reads reads(String expression) {
        return new RequestExpression(expression, Parameters.ANY).reads();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "#ip                                                      | address",
                "#request.method == 'GET'                                 | method",
                "#request.requestURI                                      | url",
                "#request.secure                                          | url",
                "#request.getHeader('X-Tenant').substring(1)              | header x-tenant",
                "#request?.getHeader('A') ?: #request.getHeader('B')      | header a, header b",
                "#request.getHeader(#request.getParameter('name'))        | parameter name, header",
                "#request.getHeader('A' + 'B')                            | header",
                "#request.contentLength > 10                              | header content-length",
                "#request.queryString                                     | query",
                "#request.parameterMap                                    | parameter",
                "#request.getParameterValues('p')[0]                      | parameter p",
                "#request.cookies.?[name == #request.getAttribute('a')]   | cookie, attribute a",
                "#request.session?.id                                     | session",
                "#request.remoteAddr                                      | address",
                "#request.remoteUser                                      | user",
                "#request.userPrincipal?.name                             | user",
                "#request.getUserPrincipal()                              | principal",
                "#request.isUserInRole('ADMIN') ? 1 : 2                   | principal",
                "#principal.name                                          | user",
                "#principal?.getName().length()                           | user",
                "#principal                                               | principal",
                "#principal.authorities.size()                            | principal",
                "#user.id + #ip                                           | address, argument user",
                "{#ip, #user}.![#this]                                    | address, argument user",
            })
    void of_members_whatTheyRead(String expression, String reads) {
        assertThat(reads(expression)).hasToString(reads);
    }

    @ParameterizedTest
    @CsvSource({"#request", "{#request}.![userPrincipal]", "#request['session']", "#request == null"})
    void of_wholeRequest_anything(String expression) {
        assertThat(reads(expression)).isEqualTo(Reads.ANYTHING);
    }

    @Test
    void members_allSayWhatTheyRead() {
        Stream<Method> members = Stream.of(ExpressionVariables.Request.class.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic());

        assertThat(members)
                .allSatisfy(member -> assertThat(member.isAnnotationPresent(ReadsFact.class))
                        .as(member.getName())
                        .isTrue());
    }
}
