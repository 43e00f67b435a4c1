package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.boot.SpringBootVersion;

/**
 * Sends random requests through two gateways, one with limits and one without, to a service that tells what it has got, and
 * compares the answers. A head that arrives without its body would leave the next request of the connection to be read as that
 * body.
 */
public final class ForwardedRequests implements AutoCloseable {

    /** Those that read parameters, sessions, users and beans, but refuse nothing. */
    private static final List<String> POLICIES = List.of(
            "a.limit=1000000/second",
            "a.key=#request.getParameter('account')",
            "b.limit=1000000/second",
            "b.match.when=#request.getParameter('kind') != 'none'",
            "b.permits=#request.getParameter('cost') == null ? 1 : 2");

    private static final List<String> METHODS = List.of("PUT", "PATCH", "DELETE", "QUERY");

    private static final List<String> TYPES = List.of(
            "application/x-www-form-urlencoded",
            "application/x-www-form-urlencoded;charset=UTF-8",
            "application/x-www-form-urlencoded; charset=iso-8859-1",
            "multipart/form-data; boundary=x",
            "application/json",
            "text/plain");

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final List<String> PARTS = List.of(
            "account=1",
            "account=%C3%A4",
            "account=a+b",
            "kind=none",
            "size=7",
            "a%20b=c",
            "&",
            "=",
            "x",
            "x=",
            "account");

    static {
        // otherwise each answer waits for an acknowledgement
        System.setProperty("sun.net.httpserver.nodelay", "true");
    }

    private static final String REFUSED = "refused by the gateway";

    private static final Pattern PAGE_OF_ERRORS = Pattern.compile("[A-Z]+ /error\\b");

    private final HttpServer service;
    private final ExecutorService threads = Executors.newFixedThreadPool(4);
    private final RunningApp limited;
    private final RunningApp plain;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Random random = new Random(1);

    /**
     * Starts the service and both gateways.
     *
     * @param gateway the prefix of the gateway's properties
     */
    public ForwardedRequests(String gateway) throws IOException {
        service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        service.setExecutor(threads);
        service.createContext("/", ForwardedRequests::tell);
        service.start();
        String[] route = {
            gateway + ".routes[0].id=one",
            gateway + ".routes[0].uri=http://127.0.0.1:" + service.getAddress().getPort(),
            gateway + ".routes[0].predicates[0]=Path=/**"
        };
        plain = RunningApp.start(List.of(), with(route, Stream.of("enabled=false")));
        limited = RunningApp.start(List.of(), with(route, POLICIES.stream().map("policies."::concat)));
    }

    private static String[] with(String[] route, Stream<String> limits) {
        return Stream.concat(Stream.of(route), limits.map("ratelimit."::concat)).toArray(String[]::new);
    }

    /**
     * Answers with all that has arrived, but for what differs between two gateways: names, and by chance how they say that there
     * is no body (a gateway on servlets sends an empty one in chunks if the end of what it receives is late).
     */
    private static void tell(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        TreeMap<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        exchange.getRequestHeaders().forEach((name, values) -> {
            if (!name.equalsIgnoreCase("Host") && !name.toLowerCase(Locale.ROOT).contains("forwarded")) {
                headers.put(name, values);
            }
        });
        if (body.length == 0) {
            headers.remove("Content-Length");
            headers.remove("Transfer-Encoding");
        }
        String all = exchange.getRequestMethod() + " " + exchange.getRequestURI() + "\n" + headers + "\n"
                + HexFormat.of().formatHex(body);
        byte[] answer = all.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, answer.length);
        exchange.getResponseBody().write(answer);
        exchange.close();
    }

    /** Sends random requests, each through both, and fails at the first that arrives otherwise. */
    public void areTheSame(int requests) throws IOException, InterruptedException {
        for (int i = 0; i < requests; i++) {
            String method = random.nextInt(4) == 0 ? METHODS.get(random.nextInt(METHODS.size())) : "POST";
            String uri = "/path" + random.nextInt(3) + (random.nextBoolean() ? "" : "?" + parts(random.nextInt(3)));
            String type = TYPES.get(random.nextInt(4) == 0 ? random.nextInt(TYPES.size()) : random.nextInt(3));
            byte[] body = body(type);
            boolean chunked = random.nextInt(3) == 0;
            String arrived = send(limited, method, uri, type, body, chunked);
            if (!arrived.equals(REFUSED) || !mayBeRefused(uri, body)) {
                assertThat(arrived)
                        .as(
                                "request %d: %s %s, %s, %s bytes%s",
                                i, method, uri, type, body.length, chunked ? ", chunked" : "")
                        .isEqualTo(send(plain, method, uri, type, body, chunked));
            }
        }
    }

    /** The Tomcat of Spring Boot 3.5 leaves out parameters without a name; with limits that read some, the answer is 400. */
    private static boolean mayBeRefused(String uri, byte[] body) {
        String query = uri.substring(uri.indexOf('?') + 1);
        return SpringBootVersion.getVersion().startsWith("3.")
                && Stream.of(query, new String(body, StandardCharsets.ISO_8859_1))
                        .flatMap(text -> Stream.of(text.split("&")))
                        .anyMatch(parameter -> parameter.startsWith("="));
    }

    private byte[] body(String type) {
        String text = parts(random.nextInt(4));
        if (type.startsWith("multipart")) {
            text = "--x\r\nContent-Disposition: form-data; name=account\r\n\r\n" + text + "\r\n--x--\r\n";
        }
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        if (random.nextInt(8) == 0) {
            body = Arrays.copyOf(body, random.nextInt(100_000));
            Arrays.fill(body, Math.min(text.length(), body.length), body.length, (byte) 'a');
        }
        return body;
    }

    private String parts(int count) {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < count; i++) {
            all.append(i == 0 ? "" : "&").append(PARTS.get(random.nextInt(PARTS.size())));
        }
        return all.toString();
    }

    private String send(RunningApp to, String method, String uri, String type, byte[] body, boolean chunked)
            throws IOException, InterruptedException {
        BodyPublisher publisher = chunked
                ? BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body))
                : BodyPublishers.ofByteArray(body);
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + to.client().port() + uri))
                .method(method, publisher)
                .header("Content-Type", type)
                .timeout(PATIENCE)
                .build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        // a request that a gateway on servlets cannot read gets a page of errors, for which it asks the service
        return response.statusCode() == 400
                        || PAGE_OF_ERRORS.matcher(response.body()).lookingAt()
                ? REFUSED
                : response.statusCode() + "\n" + response.body();
    }

    @Override
    public void close() {
        limited.close();
        plain.close();
        service.stop(0);
        threads.shutdown();
    }
}
