package dev.ratelimit.spring.autoconfigure;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a request says of itself, by every getter of {@link HttpServletRequest}, also those that the Servlet API will have
 * one day: a method that this class does not know how to call fails the test.
 */
final class RequestGetters {

    /** Methods that do something. */
    private static final Set<String> NO_GETTERS = Set.of(
            "authenticate",
            "changeSessionId",
            "login",
            "logout",
            "removeAttribute",
            "setAttribute",
            "setCharacterEncoding",
            "startAsync",
            "upgrade",
            "newPushBuilder");

    /** What differs between any two requests: the other end of the connection, and the number of the request. */
    private static final Set<String> OF_ONE_REQUEST =
            Set.of("getRemotePort", "getRequestId", "getProtocolRequestId", "getSession()");

    /** What reads the body, which is asked last. */
    private static final Set<String> OF_THE_BODY = Set.of("getInputStream", "getReader");

    private final HttpServletRequest request;
    private final Map<String, String> values = new TreeMap<>();

    private RequestGetters(HttpServletRequest request) {
        this.request = request;
    }

    /** The value of each getter, by its name and arguments, as a text that another request can have, too. */
    static Map<String, String> of(HttpServletRequest request) {
        RequestGetters getters = new RequestGetters(request);
        Stream.of(HttpServletRequest.class.getMethods())
                .filter(method -> !NO_GETTERS.contains(method.getName()))
                .filter(method -> !OF_ONE_REQUEST.contains(method.getName()))
                .filter(method -> !OF_THE_BODY.contains(method.getName()))
                .forEach(getters::ask);
        // nothing, if the parameters have been read from it
        getters.put("body", getters::body);
        return getters.values;
    }

    private interface Getter {
        @Nullable
        Object get() throws Exception;
    }

    private void ask(Method method) {
        if (method.getParameterCount() == 0) {
            if (!OF_ONE_REQUEST.contains(method.getName() + "()")) {
                put(method.getName(), () -> method.invoke(request));
            }
            return;
        }
        for (Object argument : arguments(method)) {
            put(method.getName() + "(" + argument + ")", () -> method.invoke(request, argument));
        }
    }

    private Collection<?> arguments(Method method) {
        return switch (method.getName()) {
            case "getHeader", "getHeaders" -> names(request.getHeaderNames());
            case "getIntHeader" -> List.of("Content-Length", "X-None");
            case "getDateHeader" -> List.of("If-Modified-Since", "X-None");
            case "getParameter", "getParameterValues" ->
                request.getParameterMap().keySet();
            case "getAttribute" -> attributes();
            case "getPart" -> List.of("file", "none");
            case "getSession" -> List.of(false);
            case "isUserInRole" -> List.of("USER", "NONE");
            case "getRequestDispatcher", "getRealPath" -> List.of("/probe", "probe");
            default -> throw new AssertionError("how to call " + method + "?");
        };
    }

    private static List<String> names(Enumeration<String> names) {
        return Collections.list(names).stream().sorted().toList();
    }

    /**
     * Without those of filters that note to have seen the request, and our own, and those by which Jetty shows that a
     * request has been asynchronous before.
     */
    private List<String> attributes() {
        boolean jetty = request.getServletContext().getServerInfo().startsWith("jetty");
        return names(request.getAttributeNames()).stream()
                .filter(name -> !jetty || !name.startsWith("jakarta.servlet.async."))
                .filter(name -> !name.endsWith(".FILTERED"))
                .filter(name -> !name.startsWith("dev.ratelimit."))
                .toList();
    }

    private void put(String name, Getter getter) {
        String value;
        try {
            value = text(getter.get());
        } catch (InvocationTargetException e) {
            value = e.getTargetException().getClass().getName();
        } catch (Exception e) {
            value = e.getClass().getName();
        }
        values.put(name, name.equals("getAttributeNames") ? attributes().toString() : value);
    }

    private String body() throws IOException {
        try (InputStream body = request.getInputStream()) {
            return new String(body.readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (IllegalStateException readByText) {
            try (BufferedReader body = request.getReader()) {
                return body.lines().collect(Collectors.joining("\n"));
            }
        }
    }

    private static String text(@Nullable Object value) throws IOException {
        if (value instanceof Enumeration<?> enumeration) {
            return text(Collections.list(enumeration));
        }
        if (value instanceof Object[] array) {
            return text(Arrays.asList(array));
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, String> texts = new LinkedHashMap<>();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                texts.put(String.valueOf(entry.getKey()), text(entry.getValue()));
            }
            return texts.toString();
        }
        if (value instanceof Collection<?> all) {
            StringBuilder texts = new StringBuilder("[");
            for (Object one : all) {
                texts.append(texts.length() == 1 ? "" : ", ").append(text(one));
            }
            return texts.append("]").toString();
        }
        return ofOne(value);
    }

    private static String ofOne(@Nullable Object value) throws IOException {
        if (value instanceof Cookie cookie) {
            return cookie.getName() + "=" + cookie.getValue();
        }
        if (value instanceof Part part) {
            try (InputStream content = part.getInputStream()) {
                return part.getName() + " " + part.getSubmittedFileName() + " "
                        + new String(content.readAllBytes(), StandardCharsets.ISO_8859_1);
            }
        }
        if (value instanceof Principal principal) {
            return principal.getName();
        }
        if (value instanceof HttpServletMapping mapping) {
            return String.join(
                    " ",
                    mapping.getMatchValue(),
                    mapping.getPattern(),
                    mapping.getServletName(),
                    "" + mapping.getMappingMatch());
        }
        if (value == null) {
            return "null";
        }
        boolean comparable = value instanceof CharSequence
                || value instanceof StringBuffer
                || value instanceof Number
                || value instanceof Boolean
                || value instanceof Enum<?>
                || value instanceof Locale;
        return comparable ? String.valueOf(value) : "a " + value.getClass().getName();
    }
}
