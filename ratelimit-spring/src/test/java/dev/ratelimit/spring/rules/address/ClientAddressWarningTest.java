package dev.ratelimit.spring.rules.address;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.request.RecordedRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A proxy that is not configured is recognized by its address; the log shows what is trusted. */
@ExtendWith(OutputCaptureExtension.class)
class ClientAddressWarningTest {

    private static final List<AddressRange> PROXIES =
            List.of(AddressRange.parse("10.0.0.0/8"), AddressRange.parse("2001:db8::/32"));

    private final ClientAddress untrusting = new ClientAddress(List.of(), ForwardedHeader.ANY);

    private static void find(ClientAddress clients, String peer, @Nullable String forwardedFor) {
        RecordedRequest request = new RecordedRequest().from(peer);
        if (forwardedFor != null) {
            request.with("X-Forwarded-For", forwardedFor);
        }
        assertThat(clients.find(request, new IpAddress())).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.0.0.0",
                "10.255.255.255",
                "127.0.0.1",
                "172.16.0.0",
                "172.31.255.255",
                "192.168.0.0",
                "192.168.255.255",
                "::1",
                "fc00::1",
                "fdff::1",
                "fe80::1",
                "febf::1"
            })
    void find_forwardedByAPrivateAddress_warnsOnce(String peer, CapturedOutput output) {
        find(untrusting, peer, "203.0.113.1");
        find(untrusting, peer, "203.0.113.1");

        assertThat(output).containsOnlyOnce("no proxy is trusted");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "9.255.255.255",
                "11.0.0.0",
                "126.0.0.1",
                "128.0.0.1",
                "172.15.255.255",
                "172.32.0.0",
                "192.167.255.255",
                "192.169.0.0",
                "203.0.113.9",
                "::",
                "::2",
                "1::1",
                "fbff::1",
                "fe00::1",
                "fe7f::1",
                "fec0::1",
                "2001:db8::1"
            })
    void find_forwardedByAPublicAddress_doesNotWarn(String peer, CapturedOutput output) {
        find(untrusting, peer, "203.0.113.1");

        assertThat(output).doesNotContain("no proxy is trusted");
    }

    @Test
    void find_forwardedByAPeerWithoutAnAddress_warns(CapturedOutput output) {
        RecordedRequest request = new RecordedRequest().from("").with("X-Forwarded-For", "203.0.113.1");

        assertThat(untrusting.find(request, new IpAddress())).isFalse();
        assertThat(output).containsOnlyOnce("add unix to ratelimit.trusted-proxies");
    }

    @Test
    void find_nothingForwardedOrATrustedProxy_doesNotWarn(CapturedOutput output) {
        find(untrusting, "10.0.0.1", null);
        find(new ClientAddress(PROXIES, ForwardedHeader.ANY), "10.0.0.1", "203.0.113.1");
        find(new ClientAddress(PROXIES, ForwardedHeader.ANY), "192.168.0.1", "203.0.113.1");

        assertThat(output).doesNotContain("no proxy is trusted");
    }

    @Test
    void isProxy_onlyOfTrustedAddresses() {
        IpAddress address = new IpAddress();
        ClientAddress trusting = new ClientAddress(PROXIES, ForwardedHeader.ANY);

        assertThat(address.readBare("10.0.0.1")).isTrue();
        assertThat(trusting.isProxy(address)).isTrue();
        assertThat(untrusting.isProxy(address)).isFalse();
        assertThat(address.readBare("11.0.0.1")).isTrue();
        assertThat(trusting.isProxy(address)).isFalse();
    }

    @Test
    void toString_saysWhoseAddressItIs() {
        String behind = "the remote address of the connection; behind 10.0.0.0/8, 2001:db8::/32, by the one in ";

        assertThat(untrusting).hasToString("the remote address of the connection");
        assertThat(new ClientAddress(PROXIES, ForwardedHeader.ANY))
                .hasToString(behind + "Forwarded or X-Forwarded-For");
        assertThat(new ClientAddress(PROXIES, ForwardedHeader.FORWARDED)).hasToString(behind + "Forwarded");
        assertThat(new ClientAddress(PROXIES, ForwardedHeader.X_FORWARDED_FOR)).hasToString(behind + "X-Forwarded-For");
    }
}
