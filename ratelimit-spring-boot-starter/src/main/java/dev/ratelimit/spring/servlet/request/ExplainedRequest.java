package dev.ratelimit.spring.servlet.request;

import dev.ratelimit.spring.boot.spi.RequestFacts;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.MappingMatch;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.util.UriUtils;

/**
 * A request that nobody has sent, to explain what would become of it. It has what was said of it and nothing else. A
 * proxy, because a servlet request has seventy methods, of which rules and handler mappings read a few.
 */
public final class ExplainedRequest implements InvocationHandler {

    private final String method;
    private final String path;
    private final @Nullable String query;
    private final @Nullable String user;
    private final String address;
    private final MultiValueMap<String, String> headers;
    private final Map<String, Object> attributes = new HashMap<>();

    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

    /** The mapping of a dispatcher servlet for all paths. */
    private enum ToSpringMvc implements HttpServletMapping {
        INSTANCE;

        @Override
        public String getMatchValue() {
            return "";
        }

        @Override
        public String getPattern() {
            return "/";
        }

        @Override
        public String getServletName() {
            return "";
        }

        @Override
        public MappingMatch getMappingMatch() {
            return MappingMatch.DEFAULT;
        }
    }

    /** A request of a user; {@code null} if it is anonymous, or as it is before Spring Security. */
    private ExplainedRequest(RequestFacts facts, @Nullable String user) {
        int mark = facts.target().indexOf('?');
        this.method = facts.method();
        this.path = mark < 0 ? facts.target() : facts.target().substring(0, mark);
        this.query = mark < 0 ? null : facts.target().substring(mark + 1);
        this.user = user;
        this.address = facts.address();
        this.headers = new LinkedMultiValueMap<>(new TreeMap<>(String.CASE_INSENSITIVE_ORDER));
        facts.headers().forEach(line -> {
            int colon = line.indexOf(':');
            headers.add(
                    line.substring(0, colon).strip(), line.substring(colon + 1).strip());
        });
    }

    /** The request by this user; anonymous for {@code null}. */
    public static HttpServletRequest of(RequestFacts facts, @Nullable String user) {
        return (HttpServletRequest) Proxy.newProxyInstance(
                HttpServletRequest.class.getClassLoader(),
                new Class<?>[] {HttpServletRequest.class},
                new ExplainedRequest(facts, user));
    }

    @Override
    @SuppressWarnings("JdkObsolete") // a servlet request returns a StringBuffer
    public @Nullable Object invoke(Object proxy, Method called, Object @Nullable [] arguments) {
        String first = arguments != null && arguments.length > 0 ? String.valueOf(arguments[0]) : "";
        return switch (called.getName()) {
            case "getMethod" -> method;
            case "getRequestURI", "getServletPath" -> path;
            case "getRequestURL" -> new StringBuffer("http://localhost").append(path);
            case "getContextPath" -> "";
            case "getQueryString" -> query;
            case "getScheme" -> "http";
            case "getProtocol" -> "HTTP/1.1";
            case "getServerName" -> "localhost";
            case "getServerPort" -> 80;
            case "getRemoteAddr", "getRemoteHost" -> address;
            case "getRemoteUser" -> user;
            case "getUserPrincipal" -> user == null ? null : (Principal) () -> user;
            case "getDispatcherType" -> DispatcherType.REQUEST;
            case "getHttpServletMapping" -> ToSpringMvc.INSTANCE;
            case "getLocale" -> Locale.ROOT;
            case "getContentType" -> headers.getFirst("Content-Type");
            case "getHeader" -> headers.getFirst(first);
            case "getHeaders" -> Collections.enumeration(headers.getOrDefault(first, List.of()));
            case "getHeaderNames" -> Collections.enumeration(headers.keySet());
            case "getIntHeader" -> Integer.parseInt(Objects.requireNonNullElse(headers.getFirst(first), "-1"));
            case "getCookies" -> cookies();
            case "getParameter" -> parameters().getFirst(first);
            case "getParameterValues" -> values(first);
            case "getParameterNames" -> Collections.enumeration(parameters().keySet());
            case "getParameterMap" -> parameterMap();
            case "getAttribute" -> attributes.get(first);
            case "setAttribute" -> attributes.put(first, Objects.requireNonNull(arguments)[1]);
            case "removeAttribute" -> attributes.remove(first);
            case "getAttributeNames" -> Collections.enumeration(attributes.keySet());
            case "hashCode" -> System.identityHashCode(proxy);
            case "equals" -> arguments != null && proxy == arguments[0];
            case "toString" -> method + " " + path;
            default -> nothing(called.getReturnType());
        };
    }

    private String @Nullable [] values(String name) {
        List<String> values = parameters().get(name);
        return values == null ? null : values.toArray(String[]::new);
    }

    private Map<String, String[]> parameterMap() {
        Map<String, String[]> map = new LinkedHashMap<>();
        parameters().forEach((name, values) -> map.put(name, values.toArray(String[]::new)));
        return map;
    }

    /** Those of all Cookie headers, without pairs that are none; {@code null} if there are none, as servers return it. */
    private Cookie @Nullable [] cookies() {
        List<Cookie> cookies = new ArrayList<>();
        for (String line : headers.getOrDefault("Cookie", List.of())) {
            for (String pair : line.split(";", -1)) {
                int equals = pair.indexOf('=');
                String name = equals < 0 ? "" : pair.substring(0, equals).strip();
                if (TOKEN.matcher(name).matches()) {
                    cookies.add(new Cookie(name, pair.substring(equals + 1).strip()));
                }
            }
        }
        return cookies.isEmpty() ? null : cookies.toArray(Cookie[]::new);
    }

    private MultiValueMap<String, String> parameters() {
        MultiValueMap<String, String> parameters = new LinkedMultiValueMap<>();
        if (query != null) {
            for (String pair : query.split("&", -1)) {
                int equals = pair.indexOf('=');
                String name = equals < 0 ? pair : pair.substring(0, equals);
                parameters.add(decoded(name), equals < 0 ? "" : decoded(pair.substring(equals + 1)));
            }
        }
        return parameters;
    }

    private static String decoded(String text) {
        return UriUtils.decode(text.replace('+', ' '), StandardCharsets.UTF_8);
    }

    /** As servers answer: -1 for the length of no body and for the number in no header. */
    private static @Nullable Object nothing(Class<?> type) {
        if (type == boolean.class) {
            return false;
        }
        if (type == int.class) {
            return -1;
        }
        if (type == long.class) {
            return -1L;
        }
        if (type == Enumeration.class) {
            return Collections.emptyEnumeration();
        }
        return type == Map.class ? Map.of() : type == Collection.class ? List.of() : null;
    }
}
