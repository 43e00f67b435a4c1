package dev.ratelimit.spring.servlet.request;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URLDecoder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.util.StringUtils;
import org.springframework.web.util.WebUtils;

/**
 * A request with a form in its body, which belongs to who reads it last: if a rule has read a parameter, whoever reads the body
 * later gets the bytes that the client has sent, where a server would have none left. Until then, nothing is read or kept. Not
 * thread-safe.
 */
public final class KeptForm extends HttpServletRequestWrapper {

    /** In bytes. Larger forms, and those of unknown length, are left to the server. */
    static final int MAX_LENGTH = 2 * 1024 * 1024;

    /** More would take many times the memory of the form. */
    static final int MAX_FIELDS = 10_000;

    /** The bytes, once a rule has read them. */
    private byte @Nullable [] body;

    /** The query's values before those of the form, as servers have it. */
    private Map<String, String[]> parameters = Map.of();

    private @Nullable ServletInputStream stream;
    private @Nullable BufferedReader reader;

    private KeptForm(HttpServletRequest request) {
        super(request);
    }

    /** The request itself, unless it has a form that can be kept. */
    public static HttpServletRequest of(HttpServletRequest request) {
        return isForm(request) && find(request) == null ? new KeptForm(request) : request;
    }

    private static boolean isForm(HttpServletRequest request) {
        String type = HttpMethod.POST.matches(request.getMethod()) ? request.getContentType() : null;
        long length = type == null ? -1 : request.getContentLengthLong();
        return type != null
                && type.split(";", 2)[0].strip().equalsIgnoreCase(MediaType.APPLICATION_FORM_URLENCODED_VALUE)
                && length > 0
                && length <= MAX_LENGTH;
    }

    private static @Nullable KeptForm find(HttpServletRequest request) {
        return WebUtils.getNativeRequest(request, KeptForm.class);
    }

    /**
     * Reads and keeps the form of a request, before somebody asks for its parameters.
     *
     * @throws UnreadableParametersException if it is malformed
     */
    static void read(HttpServletRequest request) {
        KeptForm form = find(request);
        if (form != null && form.body == null) {
            form.read();
        }
    }

    private void read() {
        byte[] bytes;
        try {
            bytes = getRequest().getInputStream().readNBytes(MAX_LENGTH);
        } catch (IllegalStateException readAsText) {
            return;
        } catch (IOException e) {
            throw new UnreadableParametersException();
        }
        if (bytes.length == 0) {
            // somebody has read it: as parameters, which the server knows, or for good
            return;
        }
        Map<String, List<String>> all = new LinkedHashMap<>();
        super.getParameterMap().forEach((name, values) -> all.put(name, new ArrayList<>(List.of(values))));
        addFields(new String(bytes, StandardCharsets.ISO_8859_1), all);
        Map<String, String[]> known = new LinkedHashMap<>();
        all.forEach((name, values) -> known.put(name, values.toArray(String[]::new)));
        parameters = Collections.unmodifiableMap(known);
        body = bytes;
    }

    private void addFields(String form, Map<String, List<String>> to) {
        if (StringUtils.countOccurrencesOf(form, "&") >= MAX_FIELDS) {
            throw new UnreadableParametersException();
        }
        for (String field : form.split("&", -1)) {
            if (!field.isEmpty()) {
                int end = field.indexOf('=');
                String name = decode(end < 0 ? field : field.substring(0, end));
                to.computeIfAbsent(name, unused -> new ArrayList<>(1))
                        .add(end < 0 ? "" : decode(field.substring(end + 1)));
            }
        }
    }

    /** The text has one character for each byte. */
    private String decode(String text) {
        try {
            // what is not escaped has bytes of the same encoding
            return URLDecoder.decode(new String(text.getBytes(StandardCharsets.ISO_8859_1), charset()), charset());
        } catch (IllegalArgumentException malformed) {
            throw new UnreadableParametersException();
        }
    }

    private Charset charset() {
        String name = getCharacterEncoding();
        return name == null ? StandardCharsets.UTF_8 : Charset.forName(name);
    }

    @Override
    public @Nullable String getParameter(String name) {
        if (body == null) {
            return super.getParameter(name);
        }
        String[] values = parameters.get(name);
        return values == null ? null : values[0];
    }

    @Override
    public String @Nullable [] getParameterValues(String name) {
        if (body == null) {
            return super.getParameterValues(name);
        }
        String[] values = parameters.get(name);
        return values == null ? null : values.clone();
    }

    @Override
    public Enumeration<String> getParameterNames() {
        return body == null ? super.getParameterNames() : Collections.enumeration(parameters.keySet());
    }

    @Override
    public Map<String, String[]> getParameterMap() {
        return body == null ? super.getParameterMap() : parameters;
    }

    @Override
    public ServletInputStream getInputStream() throws IOException {
        byte[] bytes = body;
        if (bytes == null) {
            return super.getInputStream();
        }
        if (stream == null) {
            stream = new Replay(bytes);
        }
        return stream;
    }

    @Override
    public BufferedReader getReader() throws IOException {
        if (body == null) {
            return super.getReader();
        }
        if (reader == null) {
            reader = new BufferedReader(new InputStreamReader(getInputStream(), charset()));
        }
        return reader;
    }

    /** The bytes that were kept. */
    private static final class Replay extends ServletInputStream {

        private final InputStream bytes;
        private boolean finished;

        Replay(byte[] body) {
            this.bytes = new ByteArrayInputStream(body);
        }

        @Override
        public int read() throws IOException {
            int next = bytes.read();
            finished |= next < 0;
            return next;
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            int count = bytes.read(to, offset, length);
            finished |= count < 0;
            return count;
        }

        @Override
        public int available() throws IOException {
            return bytes.available();
        }

        @Override
        public boolean isFinished() {
            return finished;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        /** All is there, so the listener reads it now. */
        @Override
        public void setReadListener(ReadListener listener) {
            try {
                listener.onDataAvailable();
                listener.onAllDataRead();
            } catch (IOException e) {
                listener.onError(e);
            }
        }
    }
}
