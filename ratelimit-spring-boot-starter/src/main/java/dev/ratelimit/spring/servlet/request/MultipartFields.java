package dev.ratelimit.spring.servlet.request;

import static org.springframework.web.servlet.DispatcherServlet.MULTIPART_RESOLVER_BEAN_NAME;

import dev.ratelimit.spring.rules.request.UncertainParameterException;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.util.StringUtils;
import org.springframework.web.context.support.WebApplicationContextUtils;
import org.springframework.web.multipart.MultipartHttpServletRequest;
import org.springframework.web.multipart.MultipartResolver;
import org.springframework.web.multipart.support.StandardServletMultipartResolver;
import org.springframework.web.util.WebUtils;

/**
 * The fields of multipart requests. Spring MVC asks the server for the parts of a request of any {@code multipart} type
 * before it looks for the handler, and from then on the fields are parameters. By itself, a server parses forms only.
 */
final class MultipartFields {

    private MultipartFields() {}

    /** Whether Spring MVC may find parameters that the server does not yet know. */
    private static boolean mayBeUnread(HttpServletRequest request) {
        String type = request.getContentType();
        return type != null
                && StringUtils.startsWithIgnoreCase(type, "multipart/")
                // as Tomcat compares it
                && !type.split(";", 2)[0].strip().equals("multipart/form-data");
    }

    /**
     * Makes the fields of a request to Spring MVC parameters, if Spring MVC will.
     *
     * @throws UncertainParameterException if only Spring MVC could
     */
    static void read(HttpServletRequest request) {
        if (!mayBeUnread(request)) {
            return;
        }
        MultipartResolver resolver = resolver(request);
        if (resolver == null
                || !resolver.isMultipart(request)
                || WebUtils.getNativeRequest(request, MultipartHttpServletRequest.class) != null) {
            return;
        }
        if (!(resolver instanceof StandardServletMultipartResolver)) {
            throw new UncertainParameterException("only the application can read the fields");
        }
        try {
            request.getParts();
        } catch (IOException | ServletException | RuntimeException e) {
            // the same happens to Spring MVC, which answers it
            throw new UncertainParameterException("the fields cannot be read");
        }
    }

    private static @Nullable MultipartResolver resolver(HttpServletRequest request) {
        ServletContext servlets = request.getServletContext();
        ApplicationContext context =
                servlets == null ? null : WebApplicationContextUtils.getWebApplicationContext(servlets);
        return context != null && context.containsBean(MULTIPART_RESOLVER_BEAN_NAME)
                ? context.getBean(MULTIPART_RESOLVER_BEAN_NAME, MultipartResolver.class)
                : null;
    }
}
