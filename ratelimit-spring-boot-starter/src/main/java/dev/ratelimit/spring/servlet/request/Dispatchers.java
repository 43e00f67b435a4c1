package dev.ratelimit.spring.servlet.request;

import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.util.ClassUtils;
import org.springframework.web.servlet.DispatcherServlet;

/** Distinguishes requests to Spring MVC from those to other servlets. In doubt, it is Spring MVC's. Thread-safe. */
public final class Dispatchers {

    private final Map<String, Boolean> byServlet = new ConcurrentHashMap<>();

    public boolean isForSpringMvc(HttpServletRequest request) {
        HttpServletMapping mapping = request.getHttpServletMapping();
        String servlet = mapping == null ? null : mapping.getServletName();
        if (servlet == null || servlet.isEmpty()) {
            return true;
        }
        Boolean known = byServlet.get(servlet);
        return known != null ? known : byServlet.computeIfAbsent(servlet, name -> isDispatcher(request, name));
    }

    private static boolean isDispatcher(HttpServletRequest request, String servlet) {
        ServletRegistration registration = request.getServletContext().getServletRegistration(servlet);
        String type = registration == null ? null : registration.getClassName();
        if (type == null) {
            return true;
        }
        try {
            return DispatcherServlet.class.isAssignableFrom(
                    ClassUtils.forName(type, request.getServletContext().getClassLoader()));
        } catch (ClassNotFoundException | LinkageError e) {
            return true;
        }
    }
}
