package dev.ratelimit.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Set;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Limits the calls of a {@code RestClient} or {@code RestTemplate}, and of HTTP interface clients on top of them. The
 * calling thread waits. Put it behind interceptors that set what keys read, such as {@code Authorization}.
 */
public final class RateLimitInterceptor implements ClientHttpRequestInterceptor {

    private final ClientLimits limits;

    /**
     * Creates an interceptor.
     *
     * @param limits may be shared with other clients
     */
    public RateLimitInterceptor(ClientLimits limits) {
        this.limits = limits;
    }

    /**
     * Sends the request when it is admitted.
     *
     * @throws CallNotSentException if it cannot be sent in time
     * @throws InterruptedIOException if the thread is interrupted while it waits; it stays interrupted
     */
    @Override
    public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
            throws IOException {
        Set<String> around = limits.around();
        Call call = limits.call(
                new OutgoingRequest(
                        request.getMethod(), request.getURI(), request.getHeaders(), request.getAttributes()),
                around);
        boolean held = false;
        try {
            await(call);
            call.send();
            limits.around(call.within());
            ClientHttpResponse response = execution.execute(request, body);
            held = answered(call, response);
            return held ? new HeldResponse(response, call) : response;
        } finally {
            limits.around(around);
            if (!held) {
                call.end();
            }
        }
    }

    private void await(Call call) throws IOException {
        try {
            for (long wait = call.attempt(); wait > 0; wait = call.attempt()) {
                limits.scheduler().sleep(wait);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("interrupted while waiting for a permit").initCause(e);
        }
    }

    /** A response that fails here is closed, as nobody else will. */
    private static boolean answered(Call call, ClientHttpResponse response) throws IOException {
        boolean read = false;
        try {
            boolean held = call.answered(response.getStatusCode().value(), response.getHeaders());
            read = true;
            return held;
        } finally {
            if (!read) {
                response.close();
            }
        }
    }
}
