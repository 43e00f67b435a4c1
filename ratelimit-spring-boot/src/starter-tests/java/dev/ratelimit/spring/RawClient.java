package dev.ratelimit.spring;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Sends requests to a server on this machine over plain sockets, because client libraries correct requests.
 *
 * @param port the port of the server
 */
public record RawClient(int port) {

    /** A request without a response fails the test instead of blocking all tests. */
    private static final int PATIENCE_MILLIS = 60_000;

    /** Sends a GET request. */
    public RawResponse get(String path, String... headers) {
        return send("GET " + path + " HTTP/1.1", headers);
    }

    /** Sends a request line and headers unchanged. */
    public RawResponse send(String requestLine, String... headers) {
        try (Socket socket = begin(requestLine, headers)) {
            return RawResponse.parse(new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends a request line, headers and a body unchanged, with the length of the body. */
    public RawResponse sendBody(String requestLine, String body, String... headers) {
        List<String> all = new ArrayList<>(List.of(headers));
        all.add("Content-Length: " + body.getBytes(StandardCharsets.ISO_8859_1).length + "\r\n\r\n" + body);
        return send(requestLine, all.toArray(String[]::new));
    }

    /** Sends a request line and headers unchanged; the caller may read the response. */
    public Socket begin(String requestLine, String... headers) throws IOException {
        StringBuilder request = new StringBuilder(requestLine).append("\r\nHost: localhost\r\nConnection: close\r\n");
        for (String header : headers) {
            request.append(header).append("\r\n");
        }
        request.append("\r\n");
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
        return socket;
    }

    /** Sends requests over one connection and waits for all responses. */
    public void spray(Stream<String> requests) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            BufferedReader answers = new BufferedReader(
                    new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1), 1 << 16);
            requests.forEach(request -> {
                try {
                    String text = request + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
                    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
                    readAnswer(answers);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void readAnswer(BufferedReader answers) throws IOException {
        long length = -1;
        String line = answers.readLine();
        while (line != null && !line.isEmpty()) {
            if (line.regionMatches(true, 0, "Content-Length:", 0, 15)) {
                length = Long.parseLong(line.substring(15).strip());
            }
            line = answers.readLine();
        }
        if (length >= 0) {
            answers.skip(length);
            return;
        }
        // chunks, up to the empty one
        int chunk = Integer.parseInt(answers.readLine(), 16);
        while (chunk > 0) {
            answers.skip(chunk);
            answers.readLine();
            chunk = Integer.parseInt(answers.readLine(), 16);
        }
        answers.readLine();
    }
}
