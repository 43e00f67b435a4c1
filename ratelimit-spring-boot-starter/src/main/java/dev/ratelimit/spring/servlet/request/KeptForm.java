package dev.ratelimit.spring.servlet.request;

import dev.ratelimit.spring.rules.request.UncertainParameterException;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.util.StringUtils;
import org.springframework.web.util.WebUtils;

/**
 * A request with a form in its body, which belongs to who reads it last: if a rule has read a parameter, whoever reads the body
 * later gets the bytes that the client has sent, where a server would have none left. Until then, nothing is read or kept. If
 * somebody has had the body before, no rule reads it, and only what is shown of its fields is certain. Beneath the wrappers of
 * all later filters, so that whatever they make of parameters is what the rules see. Not thread-safe.
 */
public final class KeptForm extends HttpServletRequestWrapper {

    private static final String ATTRIBUTE = KeptForm.class.getName();

    private static final Pattern BROKEN_ESCAPE = Pattern.compile("%(?![0-9A-Fa-f]{2})");

    /**
     * What is kept.
     *
     * @param length in bytes; larger forms, and those of unknown length, are left to the server
     * @param fields a form with more cannot be read; any number if negative
     */
    public record Limits(int length, int fields) {}

    /** What was read. Immutable. */
    private static final class Form {

        private final byte[] body;

        /** Without those of the query; {@code null} if it is malformed. */
        private final @Nullable Map<String, List<String>> fields;

        Form(byte[] body, @Nullable Map<String, List<String>> fields) {
            this.body = body;
            this.fields = fields;
        }

        @Nullable
        List<String> values(String name) {
            return requireFields().get(name);
        }

        Map<String, List<String>> requireFields() {
            if (fields == null) {
                throw new UnreadableParametersException();
            }
            return fields;
        }
    }

    private final Limits limits;
    private final ServletResponse response;
    private @Nullable Form form;

    /** Whether the form is the server's: it has read it before, or will. */
    private boolean left;

    /** Whether somebody has got the body before anything was kept. */
    private boolean taken;

    private @Nullable ServletInputStream stream;
    private @Nullable BufferedReader reader;

    private KeptForm(HttpServletRequest request, ServletResponse response, Limits limits, @Nullable Form form) {
        super(request);
        this.limits = limits;
        this.response = response;
        this.form = form;
    }

    /** The request itself, unless it has a form, or one was kept in an earlier dispatch. */
    public static HttpServletRequest of(HttpServletRequest request, ServletResponse response, Limits limits) {
        if (find(request) != null) {
            return request;
        }
        if (request.getAttribute(ATTRIBUTE) instanceof Form known) {
            // a page that tells of an error of the form must not fail for it again
            return known.fields == null ? request : new KeptForm(request, response, limits, known);
        }
        return request.getDispatcherType() == DispatcherType.REQUEST && hasFields(request)
                ? new KeptForm(request, response, limits, null)
                : request;
    }

    /** Whether a server may make parameters of the body. */
    private static boolean hasFields(HttpServletRequest request) {
        MediaType type = HttpMethod.POST.matches(request.getMethod()) ? typeOf(request) : null;
        return type != null
                && (MediaType.APPLICATION_FORM_URLENCODED.equalsTypeAndSubtype(type)
                        || type.getType().equals(MediaType.MULTIPART_FORM_DATA.getType()));
    }

    private static @Nullable MediaType typeOf(HttpServletRequest request) {
        String type = request.getContentType();
        try {
            return type == null ? null : MediaType.parseMediaType(type);
        } catch (IllegalArgumentException malformed) {
            return null;
        }
    }

    /** In another charset, some handlers would read other fields than servers do. */
    private boolean isKeepable() {
        MediaType type = typeOf(this);
        Charset charset = type == null ? null : type.getCharset();
        long length = getContentLengthLong();
        return MediaType.APPLICATION_FORM_URLENCODED.equalsTypeAndSubtype(type)
                && (charset == null || charset.equals(StandardCharsets.UTF_8))
                && length > 0
                && length <= limits.length();
    }

    private static @Nullable KeptForm find(HttpServletRequest request) {
        return WebUtils.getNativeRequest(request, KeptForm.class);
    }

    /**
     * Reads and keeps the form of a request, before somebody asks for its parameters.
     *
     * @throws UnreadableParametersException if it breaks off
     * @throws UncertainParameterException if somebody else has read it who does not show its fields
     */
    static void read(HttpServletRequest request) {
        KeptForm kept = find(request);
        if (kept != null && kept.form == null && !kept.left) {
            kept.readFor(request);
        }
    }

    private void readFor(HttpServletRequest request) {
        if (taken) {
            requireFields(request);
            left = true;
        } else if (getHeader(HttpHeaders.CONTENT_ENCODING) != null) {
            throw new UncertainParameterException("the body is compressed");
        } else if (isKeepable()) {
            readBody(request);
        } else {
            left = true;
        }
    }

    private void readBody(HttpServletRequest request) {
        byte[] bytes;
        try {
            bytes = getRequest().getInputStream().readNBytes(limits.length());
        } catch (IllegalStateException readAsText) {
            bytes = new byte[0];
        } catch (IOException e) {
            throw new UnreadableParametersException();
        }
        if (bytes.length == 0) {
            requireFields(request);
            left = true;
        } else if (bytes.length == getContentLengthLong()) {
            keep(bytes);
        } else {
            form = new Form(bytes, Map.of());
            throw new UncertainParameterException("somebody has read a part of the form");
        }
    }

    private void keep(byte[] bytes) {
        Map<String, List<String>> fields = Map.of();
        try {
            Map<String, String[]> unused = super.getParameterMap();
            fields = fieldsIn(new String(bytes, StandardCharsets.ISO_8859_1));
        } finally {
            // also if the server cannot read the query: then it has not read the form
            form = new Form(bytes, fields);
            getRequest().setAttribute(ATTRIBUTE, form);
        }
    }

    /**
     * Requires that somebody shows the fields of the body: that there are more parameters than those of the query, for all or
     * for the server alone, as a gateway that writes the form anew hides them.
     */
    private void requireFields(HttpServletRequest request) {
        String query = getQueryString();
        long inQuery = query == null
                ? 0
                : Stream.of(query.split("&", -1)).filter(one -> !one.isEmpty()).count();
        if (Math.max(valuesOf(request), valuesOf((HttpServletRequest) getRequest())) <= inQuery) {
            throw new UncertainParameterException("somebody has read the form");
        }
    }

    private static long valuesOf(HttpServletRequest request) {
        return request.getParameterMap().values().stream()
                .mapToLong(values -> values.length)
                .sum();
    }

    /**
     * The values of a parameter of a request, even if a filter shows only those of the query, as a gateway does that writes
     * the form anew.
     */
    static String @Nullable [] values(HttpServletRequest request, String name) {
        String[] shown = request.getParameterValues(name);
        KeptForm kept = find(request);
        String[] all = kept == null ? null : kept.getParameterValues(name);
        return all != null && (shown == null || shown.length < all.length) ? all : shown;
    }

    /** The names of the parameters, likewise. */
    static Collection<String> names(HttpServletRequest request) {
        Set<String> names = new LinkedHashSet<>(Collections.list(request.getParameterNames()));
        KeptForm kept = find(request);
        if (kept != null) {
            names.addAll(Collections.list(kept.getParameterNames()));
        }
        return names;
    }

    /** {@code null} if it is malformed, or has more fields than it may. The text has one character for each byte. */
    private @Nullable Map<String, List<String>> fieldsIn(String text) {
        if (limits.fields() >= 0 && StringUtils.countOccurrencesOf(text, "&") >= limits.fields()) {
            return null;
        }
        Map<String, List<String>> fields = new LinkedHashMap<>();
        try {
            for (String field : text.split("&", -1)) {
                if (!field.isEmpty()) {
                    int end = field.indexOf('=');
                    String name = decode(end < 0 ? field : field.substring(0, end));
                    if (name.isEmpty()) {
                        return null;
                    }
                    fields.computeIfAbsent(name, unused -> new ArrayList<>(1))
                            .add(end < 0 ? "" : decode(field.substring(end + 1)));
                }
            }
        } catch (IllegalArgumentException | CharacterCodingException malformed) {
            return null;
        }
        return fields;
    }

    /** As strictly as servers do. */
    private static String decode(String text) throws CharacterCodingException {
        if (BROKEN_ESCAPE.matcher(text).find()) {
            throw new IllegalArgumentException("a percent sign without two hexadecimal digits");
        }
        byte[] bytes = URLDecoder.decode(text, StandardCharsets.ISO_8859_1).getBytes(StandardCharsets.ISO_8859_1);
        return StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(bytes))
                .toString();
    }

    @Override
    public @Nullable String getParameter(String name) {
        String first = super.getParameter(name);
        if (first != null || form == null) {
            return first;
        }
        List<String> values = form.values(name);
        return values == null ? null : values.get(0);
    }

    /** Those of the query, or of a forward, come first. */
    @Override
    public String @Nullable [] getParameterValues(String name) {
        String[] others = super.getParameterValues(name);
        List<String> values = form == null ? null : form.values(name);
        return values == null ? others : StringUtils.concatenateStringArrays(others, values.toArray(String[]::new));
    }

    @Override
    public Enumeration<String> getParameterNames() {
        return form == null
                ? super.getParameterNames()
                : Collections.enumeration(getParameterMap().keySet());
    }

    @Override
    public Map<String, String[]> getParameterMap() {
        Map<String, String[]> others = super.getParameterMap();
        if (form == null) {
            return others;
        }
        Map<String, String[]> all = new LinkedHashMap<>(others);
        form.requireFields().keySet().forEach(name -> all.put(name, getParameterValues(name)));
        return Collections.unmodifiableMap(all);
    }

    @Override
    public ServletInputStream getInputStream() throws IOException {
        if (form == null) {
            taken = true;
            return super.getInputStream();
        }
        if (stream == null) {
            stream = new Replay(form.body);
        }
        return stream;
    }

    @Override
    public BufferedReader getReader() throws IOException {
        if (form == null) {
            taken = true;
            return super.getReader();
        }
        if (reader == null) {
            reader = readerOf(this);
        }
        return reader;
    }

    /** Reads the stream of a request as text. */
    static BufferedReader readerOf(HttpServletRequest request) throws IOException {
        String charset = request.getCharacterEncoding();
        return new BufferedReader(new InputStreamReader(
                request.getInputStream(), charset == null ? StandardCharsets.ISO_8859_1.name() : charset));
    }

    /** Otherwise, the server would go on with its own request, of whose body nothing is left. */
    @Override
    public AsyncContext startAsync() {
        return form == null ? super.startAsync() : startAsync(this, response);
    }

    /** The bytes that were kept. */
    private static final class Replay extends ReadableStream {

        private final ByteArrayInputStream bytes;

        Replay(byte[] body) {
            this.bytes = new ByteArrayInputStream(body);
        }

        @Override
        public int read() {
            return bytes.read();
        }

        @Override
        public int read(byte[] to, int offset, int length) {
            return bytes.read(to, offset, length);
        }

        @Override
        public int available() {
            return bytes.available();
        }

        @Override
        public boolean isFinished() {
            return bytes.available() == 0;
        }
    }
}
