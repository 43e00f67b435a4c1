package dev.ratelimit.spring.servlet.request;

import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Field;
import java.util.Objects;
import org.apache.catalina.connector.Response;
import org.apache.catalina.connector.ResponseFacade;
import org.springframework.util.ReflectionUtils;

/** The headers of a response. */
public final class ResponseHeaders {

    private static final String TOMCAT = "org.apache.catalina.connector.ResponseFacade";

    private ResponseHeaders() {}

    /**
     * Removes a header from a response that is not committed. Servlet 6.0 does not define how: Jetty and Undertow do it as
     * Servlet 6.1 has defined it since, and Tomcat ignores that.
     */
    public static void remove(HttpServletResponse response, String name) {
        response.setHeader(name, null);
        ServletResponse innermost = response;
        while (innermost instanceof ServletResponseWrapper wrapper) {
            innermost = wrapper.getResponse();
        }
        if (innermost.getClass().getName().equals(TOMCAT) && !response.isCommitted()) {
            Tomcat.remove((ResponseFacade) innermost, name);
        }
    }

    /** Only loaded on Tomcat. */
    private static final class Tomcat {

        private static final Field RESPONSE =
                Objects.requireNonNull(ReflectionUtils.findField(ResponseFacade.class, "response"));

        static {
            ReflectionUtils.makeAccessible(RESPONSE);
        }

        static void remove(ResponseFacade facade, String name) {
            Response response = (Response) ReflectionUtils.getField(RESPONSE, facade);
            if (response != null) {
                response.getCoyoteResponse().getMimeHeaders().removeHeader(name);
            }
        }
    }
}
