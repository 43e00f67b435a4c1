package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Behind a proxy, which is this test. Each address may send one request. */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class ProxyTest {

    private final RunningApp app;

    ProxyTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(TestApi.class),
                "ratelimit.policies.ip.limit=1/hour",
                "ratelimit.policies.ip.key=ip",
                "ratelimit.trusted-proxies=127.0.0.1, 10.0.0.0/8",
                "server.max-http-request-header-size=32KB");
    }

    @AfterEach
    void forget() {
        app.ticker().advance(Duration.ofHours(2));
    }

    private boolean admitted(String... headers) {
        return app.get("/any", headers).status() == 200;
    }

    private long admitted(Stream<String> addresses) {
        return addresses
                .filter(address -> admitted("X-Forwarded-For: " + address))
                .count();
    }

    @Test
    @DisplayName("C2 addresses that a client writes left of its own do not count")
    void leftmost_isTheClientsToChoose_soItDoesNotCount() {
        assertThat(admitted(Stream.iterate(1, i -> i + 1).limit(20).map(i -> "198.51.100." + i + ", 203.0.113.1")))
                .isEqualTo(1);
        assertThat(admitted("X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 203.0.113.1, 10.9.9.9"))
                .isFalse();
        assertThat(admitted("X-Forwarded-For: 203.0.113.2")).isTrue();
    }

    @Test
    @DisplayName("C3 a header with only proxies, nothing, garbage or 8 KiB of garbage counts as the peer")
    void unreadable_isThePeer() {
        assertThat(admitted()).isTrue();
        assertThat(admitted(Stream.of(
                        "10.0.0.1, 10.0.0.2", "", "evil", "proxy.invalid", "x,".repeat(4_096), "\"", "203.0.113.1, x")))
                .isZero();
        assertThat(admitted("Forwarded: for=unknown")).isFalse();
    }

    @Test
    @DisplayName("C4 each /64 is one client")
    void ipv6_isOneClientPerPrefix() {
        assertThat(admitted(Stream.iterate(1, i -> i + 1)
                        .limit(100)
                        .map(i -> "2001:db8:0:1:" + Integer.toHexString(i * 321) + "::" + i)))
                .isEqualTo(1);
        assertThat(admitted("X-Forwarded-For: 2001:db8:0:2::1")).isTrue();
    }

    @Test
    @DisplayName("C5 all spellings of an IPv4 address in IPv6 are that address")
    void ipv4Mapped_isThatIpv4() {
        assertThat(admitted(Stream.of("1.2.3.4", "::ffff:1.2.3.4", "::ffff:102:304", "::FFFF:0102:0304")))
                .isEqualTo(1);
        assertThat(admitted(Stream.of("::ffff:1.2.3.5", "::ffff:1.2.3.6"))).isEqualTo(2);
        assertThat(admitted(Stream.of("2001:db8::1.2.3.4", "2001:db8::5"))).isEqualTo(1);
    }

    @Test
    @DisplayName("C6 ports, brackets and zones are read; other notations are not addresses")
    void notations_areReadOrThePeer() {
        assertThat(admitted(Stream.of("2001:db8:7::1", "[2001:db8:7::1]:443", "[2001:db8:7::2]", "2001:db8:7::3%eth0")))
                .isEqualTo(1);
        assertThat(admitted(Stream.of("1.2.3.9", "1.2.3.9:80"))).isEqualTo(1);
        assertThat(admitted(Stream.of("1.2.3.4.5", "0x7f.1", "010.0.0.1", "1.2.3", "16909060")))
                .isEqualTo(1); // the peer, once
    }

    @Test
    void bothHeaders_areOneClientWhereTheyAgree_elseThePeer() {
        String client = "X-Forwarded-For: 203.0.113.8";
        assertThat(admitted("Forwarded: for=203.0.113.8;proto=https", client)).isTrue();
        assertThat(admitted(client)).isFalse();
        assertThat(admitted("Forwarded: for=9.9.9.1", "X-Forwarded-For: 203.0.113.9"))
                .isTrue();
        assertThat(admitted("Forwarded: for=9.9.9.2", "X-Forwarded-For: 203.0.113.9"))
                .isFalse();
        assertThat(admitted()).isFalse(); // the peer
    }
}
