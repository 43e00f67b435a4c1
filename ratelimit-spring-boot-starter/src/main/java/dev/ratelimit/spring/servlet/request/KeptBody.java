package dev.ratelimit.spring.servlet.request;

import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.web.util.WebUtils;

/**
 * A request whose body conditions of the application have read when the limits looked for its handler: whoever reads it later gets
 * it from its beginning. Only what they have read is kept. Not thread-safe.
 */
public final class KeptBody extends HttpServletRequestWrapper {

    private static final String ATTRIBUTE = KeptBody.class.getName();

    /** What was read, and where the rest is. */
    private record Part(ByteArrayOutputStream read, ServletInputStream rest) {}

    private final Part part;
    private @Nullable ServletInputStream stream;
    private @Nullable BufferedReader reader;

    private KeptBody(HttpServletRequest request, Part part) {
        super(request);
        this.part = part;
    }

    /** The request as it is for those who come after the limits; the same if nothing was read. */
    public static HttpServletRequest of(HttpServletRequest request) {
        return request.getAttribute(ATTRIBUTE) instanceof Part part
                        && WebUtils.getNativeRequest(request, KeptBody.class) == null
                ? new KeptBody(request, part)
                : request;
    }

    /** The body of a request, from its beginning; what is read of it is kept. */
    static ServletInputStream read(HttpServletRequest request) throws IOException {
        if (request.getAttribute(ATTRIBUTE) instanceof Part known) {
            return new Again(known, true);
        }
        Part part = new Part(new ByteArrayOutputStream(), request.getInputStream());
        request.setAttribute(ATTRIBUTE, part);
        return new Again(part, true);
    }

    @Override
    public ServletInputStream getInputStream() {
        if (stream == null) {
            stream = new Again(part, false);
        }
        return stream;
    }

    @Override
    public BufferedReader getReader() throws IOException {
        if (reader == null) {
            reader = KeptForm.readerOf(this);
        }
        return reader;
    }

    /** What was read before, and then the rest, which may block. */
    private static final class Again extends ReadableStream {

        private final ByteArrayInputStream before;
        private final Part part;
        private final boolean keeps;

        Again(Part part, boolean keeps) {
            this.before = new ByteArrayInputStream(part.read().toByteArray());
            this.part = part;
            this.keeps = keeps;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            if (before.available() > 0) {
                return before.read(to, offset, length);
            }
            int count = part.rest().read(to, offset, length);
            if (keeps && count > 0) {
                part.read().write(to, offset, count);
            }
            return count;
        }

        @Override
        public int available() throws IOException {
            return before.available() > 0 ? before.available() : part.rest().available();
        }

        @Override
        public boolean isFinished() {
            return before.available() == 0 && part.rest().isFinished();
        }
    }
}
