package dev.ratelimit.client;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpResponse;

/** A response whose call ends when it, or its body, is closed, or when its body has been read. */
final class HeldResponse implements ClientHttpResponse {

    private final ClientHttpResponse response;
    private final Call call;

    HeldResponse(ClientHttpResponse response, Call call) {
        this.response = response;
        this.call = call;
    }

    @Override
    public HttpStatusCode getStatusCode() throws IOException {
        return response.getStatusCode();
    }

    @Override
    public String getStatusText() throws IOException {
        return response.getStatusText();
    }

    @Override
    public HttpHeaders getHeaders() {
        return response.getHeaders();
    }

    @Override
    public InputStream getBody() throws IOException {
        return new FilterInputStream(response.getBody()) {
            @Override
            public int read() throws IOException {
                return ended(super.read());
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                return ended(super.read(bytes, offset, length));
            }

            private int ended(int read) {
                if (read < 0) {
                    call.end();
                }
                return read;
            }

            @Override
            public void close() throws IOException {
                try {
                    super.close();
                } finally {
                    call.end();
                }
            }
        };
    }

    @Override
    public void close() {
        try {
            response.close();
        } finally {
            call.end();
        }
    }
}
