package dev.ratelimit.spring.servlet.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.ratelimit.spring.rules.request.UncertainParameterException;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.HttpCookie;
import org.springframework.mock.web.MockHttpServletRequest;

class ServletWebRequestTest {

    private final MockHttpServletRequest servlet = new MockHttpServletRequest("GET", "/a/b");

    private static ServletWebRequest web(HttpServletRequest request) {
        return new ServletWebRequest(request, new ServletPaths(new Dispatchers()));
    }

    @Test
    void headers_areAllLinesInOrder() {
        servlet.addHeader("X-A", "1");
        servlet.addHeader("X-A", "2");

        assertThat(web(servlet).headers("x-a")).containsExactly("1", "2");
        assertThat(web(servlet).headers("X-B")).isEmpty();
        assertThat(web(servlet).header("X-A")).isEqualTo("1");
        assertThat(web(servlet).headerNames()).containsExactly("X-A");
    }

    @Test
    void cookies_areAllOrNone() {
        assertThat(web(servlet).cookies()).isEmpty();

        servlet.setCookies(new Cookie("c", "1"), new Cookie("c", "2"));

        assertThat(web(servlet).cookies()).containsExactly(new HttpCookie("c", "1"), new HttpCookie("c", "2"));
    }

    @Test
    void sessionId_withoutSession_makesNone() {
        assertThat(web(servlet).sessionId()).isNull();
        assertThat(servlet.getSession(false)).isNull();
    }

    /** As Spring's filter of forms shows those of {@code PUT}. */
    @Test
    void parameter_withoutAValue_isEmpty() {
        ServletWebRequest put = web(new HttpServletRequestWrapper(servlet) {
            @Override
            public @Nullable String[] getParameterValues(String name) {
                return new @Nullable String[] {null};
            }
        });

        assertThat(put.parameters("account")).containsExactly("");
    }

    @Test
    void parameters_thatCannotBeRead_failForTheApplicationToo() {
        ServletWebRequest broken = web(new HttpServletRequestWrapper(servlet) {
            @Override
            public String[] getParameterValues(String name) {
                throw new IllegalStateException("cannot be read");
            }
        });
        assertThatCode(broken::rethrowFailure).doesNotThrowAnyException();

        assertThatIllegalStateException().isThrownBy(() -> broken.parameters("a"));

        assertThatIllegalStateException().isThrownBy(broken::rethrowFailure).withMessage("cannot be read");
    }

    /** Tomcat fails only the first time, and then knows the parameters before the unreadable one. */
    @Test
    void parameters_thatCouldNotBeRead_failAgain() {
        AtomicInteger readings = new AtomicInteger();
        ServletWebRequest broken = web(new HttpServletRequestWrapper(servlet) {
            @Override
            public String[] getParameterValues(String name) {
                if (readings.incrementAndGet() == 1) {
                    throw new IllegalStateException("cannot be read");
                }
                return new String[] {"some"};
            }
        });

        assertThatIllegalStateException().isThrownBy(() -> broken.parameters("a"));

        assertThatIllegalStateException().isThrownBy(() -> broken.parameters("a"));
        assertThatIllegalStateException().isThrownBy(broken::parameterNames);
    }

    @ParameterizedTest
    @CsvSource({"a=1, 1", "a=1&a=2, 2", "b=1, 1"})
    void parameters_ofTheQueryOrTheForm_areAllValues(String query, int values) {
        servlet.setQueryString(query);
        for (int i = 1; i <= values; i++) {
            servlet.addParameter("a", Integer.toString(i));
        }

        assertThat(web(servlet).parameters("a")).hasSize(values);
    }

    @ParameterizedTest
    @CsvSource({"a=1, 2", "a=1&a=2, 3", "b=1&%61=1, 3"})
    void parameters_ofTheQueryAndTheForm_areUncertain(String query, int values) {
        servlet.setQueryString(query);
        for (int i = 1; i <= values; i++) {
            servlet.addParameter("a", Integer.toString(i));
        }

        assertThatExceptionOfType(UncertainParameterException.class)
                .isThrownBy(() -> web(servlet).parameters("a"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "/admin%20/x|/admin /x|/admin/x",
                "/%20admin/x%20/|/ admin/x /|/admin/x/",
                "//admin/x|/admin/x|/admin/x",
                "/a%62/x|/ab/x|/ab/x",
                "/%20|/ |/"
            })
    void normalizedPath_isWithoutWhatAMatcherIgnores(String written, String read, String normalized) {
        servlet.setRequestURI(written);
        servlet.setServletPath(read);

        assertThat(web(servlet).normalizedPath()).hasToString(normalized);
    }

    @Test
    void received_isWhatTheServerMade() {
        servlet.setRemoteAddr("192.0.2.1");
        ServletWebRequest wrapped = web(new HttpServletRequestWrapper(servlet) {
            @Override
            public String getRemoteAddr() {
                return "198.51.100.66";
            }
        });

        assertThat(wrapped.remoteAddress()).isEqualTo("198.51.100.66");
        assertThat(wrapped.received().remoteAddress()).isEqualTo("192.0.2.1");
        ServletWebRequest plain = web(servlet);
        assertThat(plain.received()).isSameAs(plain);
    }

    @Test
    void unwrap_isTheNativeRequestOfThatType() {
        ServletWebRequest wrapped = web(new HttpServletRequestWrapper(servlet));

        assertThat(wrapped.unwrap(MockHttpServletRequest.class)).isSameAs(servlet);
        assertThat(wrapped.unwrap(HttpServletRequest.class)).isInstanceOf(HttpServletRequestWrapper.class);
        assertThat(wrapped.unwrap(String.class)).isNull();
    }
}
