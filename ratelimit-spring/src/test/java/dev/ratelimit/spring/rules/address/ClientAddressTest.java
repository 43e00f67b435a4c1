package dev.ratelimit.spring.rules.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Seeds;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How addresses are read, and which one is the client's. */
class ClientAddressTest {

    private static final List<AddressRange> PROXIES =
            List.of(AddressRange.parse("10.0.0.0/8"), AddressRange.parse("2001:db8:ffff::/48"));

    private static @Nullable String read(String text) {
        IpAddress address = new IpAddress();
        return address.read(text, 0, text.length()) ? address.toString() : null;
    }

    @ParameterizedTest
    @CsvSource({
        "1.2.3.4, 1.2.3.4",
        "1.2.3.4:80, 1.2.3.4",
        "0.0.0.0, 0.0.0.0",
        "255.255.255.255, 255.255.255.255",
        "::, 0:0:0:0:0:0:0:0",
        "::1, 0:0:0:0:0:0:0:1",
        "[::1], 0:0:0:0:0:0:0:1",
        "[::1]:443, 0:0:0:0:0:0:0:1",
        "1::, 1:0:0:0:0:0:0:0",
        "1:2:3:4:5:6:7:8, 1:2:3:4:5:6:7:8",
        "1::8, 1:0:0:0:0:0:0:8",
        "1:2:3::7:8, 1:2:3:0:0:0:7:8",
        "1:2:3:4:5:6:7::, 1:2:3:4:5:6:7:0",
        "::2:3:4:5:6:7:8, 0:2:3:4:5:6:7:8",
        "2001:DB8::abCD, 2001:db8:0:0:0:0:0:abcd",
        "fe80::1%eth0, fe80:0:0:0:0:0:0:1",
        "[fe80::1%25eth0]:80, fe80:0:0:0:0:0:0:1",
        "::ffff:1.2.3.4, 1.2.3.4",
        "::ffff:102:304, 1.2.3.4",
        "::FFFF:0102:0304, 1.2.3.4",
        "0:0:0:0:0:ffff:1.2.3.4, 1.2.3.4",
        "[::ffff:1.2.3.4]:80, 1.2.3.4",
        "2001:db8::1.2.3.4, 2001:db8:0:0:0:0:102:304",
        "::1.2.3.4, 0:0:0:0:0:0:102:304"
    })
    @DisplayName("C5 C6 an address is its bits, in any notation")
    void read_address_isItsBits(String text, String address) {
        assertThat(read(text)).isEqualTo(address);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "1.2.3",
                "1.2.3.4.5",
                "1.2.3.256",
                "010.0.0.1",
                "0x7f.1",
                "1.2.3.4:",
                "1.2.3.4:x",
                "1.2.3.4:123456",
                "1..3.4",
                ".1.2.3",
                "1.2.3.4 ",
                "a.b.c.d",
                "1.2.3.-4",
                ":",
                ":::",
                "1:",
                ":1",
                "1:2:3:4:5:6:7",
                "1:2:3:4:5:6:7:8:9",
                "1::2::3",
                "1:2:3:4:5:6:7:8::",
                "12345::",
                "g::",
                "::1.2.3",
                "1.2.3.4::",
                "[::1",
                "[1.2.3.4]:80x",
                "[::1]80",
                "[]",
                "localhost",
                "example.org",
                "unknown",
                "_hidden",
                "١.٢.٣.٤",
                "::ffff:1.2.3.4.5",
                "1:2:3:4:5:6:7:1.2.3.4",
                "\u0000"
            })
    @DisplayName("C6 an incomplete address is not an address, and no name is looked up")
    void read_noAddress_isRefused(String text) {
        assertThat(read(text)).isNull();
    }

    @Test
    void read_randomIpv6_isWhatTheJdkReads() throws UnknownHostException {
        long seed = Seeds.next();
        Random random = new Random(seed);
        for (int i = 0; i < 100_000; i++) {
            StringBuilder text = new StringBuilder();
            int groups = 2 + random.nextInt(8);
            int gap = random.nextInt(groups + 2);
            for (int group = 0; group < groups; group++) {
                text.append(group == gap ? ":" : "")
                        .append(Integer.toHexString(random.nextInt(65536) >> random.nextInt(16)));
                text.append(group < groups - 1 ? ":" : "");
            }
            String written = gap == groups ? text + "::" : text.toString();
            String expected;
            try {
                InetAddress known = InetAddress.getByName("[" + written + "]");
                expected = known.getHostAddress();
                if (!(known instanceof Inet6Address)) {
                    continue;
                }
            } catch (UnknownHostException e) {
                expected = null;
            }

            assertThat(read(written)).as("%s, seed %s", written, seed).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1.2.3.4, 32, 64, 1.2.3.4",
        "1.2.3.4, 24, 64, 1.2.3.0/24",
        "1.2.255.4, 20, 64, 1.2.240.0/20",
        "2001:db8:1:2:3::4, 32, 64, 2001:db8:1:2::/64",
        "2001:db8:1:2ff:3::4, 32, 56, 2001:db8:1:200::/56",
        "2001:db8:1:2:3::4, 32, 128, 2001:db8:1:2:3:0:0:4",
        "2001:db8:1:2:3::7, 32, 127, 2001:db8:1:2:3:0:0:6/127",
        "2001:db8:1:2:3:4:5:6, 32, 113, 2001:db8:1:2:3:4:5:0/113",
        "2001:db8:1:2:3:4:5:6, 32, 112, 2001:db8:1:2:3:4:5::/112",
        "2001:db8:1::, 32, 32, 2001:db8::/32"
    })
    @DisplayName("C4 clients are identified by a prefix")
    void appendTo_prefix_isTheNetwork(String text, int v4, int v6, String network) {
        IpAddress address = new IpAddress();
        address.read(text, 0, text.length());
        StringBuilder out = new StringBuilder();

        address.appendTo(out, v4, v6);

        assertThat(out).hasToString(network);
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 10.255.0.1, true",
        "10.0.0.5/8, 10.255.0.1, true",
        "10.0.0.0/8, 11.0.0.1, false",
        "10.0.0.0/8, ::ffff:10.0.0.1, true",
        "::ffff:10.0.0.0/104, 10.0.0.1, true",
        "10.0.0.7, 10.0.0.7, true",
        "10.0.0.7, 10.0.0.8, false",
        "10.0.0.7/32, 10.0.0.7, true",
        "10.0.0.0/9, 10.127.0.1, true",
        "0.0.0.0/0, 1.2.3.4, true",
        "0.0.0.0/0, ::1, false",
        "::/0, ::1, true",
        "::/0, 1.2.3.4, false",
        "2001:db8::/33, 2001:db8:7fff::1, true",
        "2001:db8::/33, 2001:db8:8000::1, false",
        "::1, ::1, true"
    })
    void contains_range_isDecidedByBits(String range, String text, boolean contained) {
        IpAddress address = new IpAddress();
        address.read(text, 0, text.length());

        assertThat(AddressRange.parse(range).contains(address)).isEqualTo(contained);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "10.0.0.0/33 | must have a prefix from 0 to 32 but has '33'",
                "10.0.0.0/-1 | must have a prefix from 0 to 32 but has '-1'",
                "10.0.0.0/+8 | must have a prefix from 0 to 32 but has '+8'",
                "10.0.0.0/1: | must have a prefix from 0 to 32 but has '1:'",
                "10.0.0.0/ | must have a prefix from 0 to 32 but has ''",
                "::/129 | must have a prefix from 0 to 128 but has '129'",
                "proxy.local | is not an address; write 10.0.0.7, 10.0.0.0/8 or 2001:db8::/32 (names are not looked up)",
                "10.0.0 | is not an address",
                "10.0.0.7:80 | is not an address",
                "[::1] | is not an address",
                "fe80::1%eth0 | is not an address"
            })
    @DisplayName("F11 an invalid range is reported with a reason")
    void parse_noRange_saysWhy(String text, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> AddressRange.parse(text))
                .withMessageContaining(message);
    }

    private static String find(ForwardedHeader header, String peer, String... headers) {
        RecordedRequest request = new RecordedRequest().from(peer);
        for (String line : headers) {
            int colon = line.indexOf(':');
            request.with(line.substring(0, colon), line.substring(colon + 1));
        }
        IpAddress address = new IpAddress();
        return new ClientAddress(PROXIES, header).find(request, address) ? address.toString() : "none";
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "192.0.2.1 | X-Forwarded-For: 203.0.113.1 | 192.0.2.1",
                "10.0.0.1 | X-Forwarded-For: 203.0.113.1 | 203.0.113.1",
                "10.0.0.1 | X-Forwarded-For: 198.51.100.66, 203.0.113.1 | 203.0.113.1",
                "10.0.0.1 | X-Forwarded-For: 198.51.100.66, 203.0.113.1 , 10.1.1.1 | 203.0.113.1",
                "10.0.0.1 | X-Forwarded-For: 203.0.113.1,, | 203.0.113.1",
                "10.0.0.1 | X-Forwarded-For: 10.1.1.1, 10.1.1.2 | 10.0.0.1",
                "10.0.0.1 | X-Forwarded-For: 203.0.113.1, evil | 10.0.0.1",
                "10.0.0.1 | X-Forwarded-For: evil, 203.0.113.1 | 203.0.113.1",
                "10.0.0.1 | X-Forwarded-For: [2001:db8::1]:443 | 2001:db8:0:0:0:0:0:1",
                "10.0.0.1 | X-Forwarded-For:  | 10.0.0.1",
                "10.0.0.1 | Forwarded: for=203.0.113.1 | 203.0.113.1",
                "10.0.0.1 | Forwarded: For=\"[2001:db8::1]:443\";proto=https | 2001:db8:0:0:0:0:0:1",
                "10.0.0.1 | Forwarded: proto=https; by=10.0.0.1; for=203.0.113.1, for=10.1.1.1 | 203.0.113.1",
                "10.0.0.1 | Forwarded: for=198.51.100.66, for=203.0.113.1 | 203.0.113.1",
                "10.0.0.1 | Forwarded: for=\"198.51.100.66, for=203.0.113.1 | 203.0.113.1",
                "10.0.0.1 | Forwarded: for=\"a, b\", for=203.0.113.1;host=\"x,y\" | 203.0.113.1",
                "10.0.0.1 | Forwarded: for=\"a\\\", b\" | 10.0.0.1",
                "10.0.0.1 | Forwarded: host=\"a\\\";for=198.51.100.66;x=\\\"\";for=203.0.113.1 | 203.0.113.1",
                "10.0.0.1 | Forwarded: for=\"203.0.113.4 | 10.0.0.1",
                "10.0.0.1 | Forwarded: for=\"203.0.113.4\"x | 10.0.0.1",
                "10.0.0.1 | Forwarded: for=\"203.0.113.4\\ | 10.0.0.1",
                "10.0.0.1 | Forwarded: host=\"x;for=203.0.113.4 | 10.0.0.1",
                "10.0.0.1 | Forwarded: for=\"203.0.113.4\" ;proto=http | 203.0.113.4",
                "10.0.0.1 | Forwarded: for=198.51.100.66, for=203.0.113.1;host=\"\\\",x\" | 203.0.113.1",
                "10.0.0.1 | Forwarded: for=198.51.100.66, garbage | 10.0.0.1",
                "10.0.0.1 | Forwarded: for=198.51.100.66, for= | 10.0.0.1",
                "10.0.0.1 | Forwarded: for=198.51.100.66, for=unknown | 10.0.0.1",
                "10.0.0.1 | Forwarded: for=198.51.100.66, for=\"10.1.1.1\"x | 10.0.0.1",
                "10.0.0.1 | Forwarded: for=198.51.100.66, proto=https | 10.0.0.1",
                "10.0.0.1 | Forwarded: for=unknown | 10.0.0.1",
                "10.0.0.1 | Forwarded: for=_hidden, for=10.1.1.1 | 10.0.0.1",
                "10.0.0.1 | Forwarded: host=203.0.113.1 | 10.0.0.1",
                "10.0.0.1 | Forwarded: for=203.0.113.1; X-Forwarded-For | 203.0.113.1",
                "2001:db8:ffff::1 | X-Forwarded-For: 2001:db8::7 | 2001:db8:0:0:0:0:0:7",
                "::ffff:10.0.0.1 | X-Forwarded-For: 203.0.113.1 | 203.0.113.1",
                "unix:/socket | X-Forwarded-For: 203.0.113.1 | none"
            })
    @DisplayName("C2 C3 behind a trusted proxy, the client is the rightmost non-proxy address, or else the peer")
    void find_forwarded_isTheFirstUntrustedFromTheRight(String peer, String header, String client) {
        assertThat(find(ForwardedHeader.ANY, peer, header)).isEqualTo(client);
    }

    @Test
    @DisplayName("C2 several lines form one list")
    void find_severalLines_areOneList() {
        assertThat(find(
                        ForwardedHeader.ANY,
                        "10.0.0.1",
                        "X-Forwarded-For:198.51.100.66",
                        "X-Forwarded-For:203.0.113.1"))
                .isEqualTo("203.0.113.1");
        assertThat(find(ForwardedHeader.ANY, "10.0.0.1", "X-Forwarded-For:203.0.113.1", "X-Forwarded-For:10.1.1.1"))
                .isEqualTo("203.0.113.1");
    }

    @Test
    void find_bothHeaders_takesTheOneThatTheProxyWrites() {
        String[] both = {"Forwarded:for=198.51.100.66", "X-Forwarded-For:203.0.113.1"};

        assertThat(find(ForwardedHeader.ANY, "10.0.0.1", both)).isEqualTo("10.0.0.1");
        assertThat(find(ForwardedHeader.FORWARDED, "10.0.0.1", both)).isEqualTo("198.51.100.66");
        assertThat(find(ForwardedHeader.X_FORWARDED_FOR, "10.0.0.1", both)).isEqualTo("203.0.113.1");
        assertThat(find(ForwardedHeader.FORWARDED, "10.0.0.1", both[1])).isEqualTo("10.0.0.1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "for=203.0.113.1 | 203.0.113.1 | 203.0.113.1",
                "for=\"[2001:db8::1]:443\" | 2001:db8:0::1 | 2001:db8:0:0:0:0:0:1",
                "for=198.51.100.66, for=203.0.113.1 | 198.51.100.7, 203.0.113.1 | 203.0.113.1",
                "for=203.0.113.1 | 203.0.113.2 | 10.0.0.1",
                "for=unknown | 203.0.113.1 | 10.0.0.1",
                "for=203.0.113.1 | evil | 10.0.0.1",
                "for=10.1.1.1 | 203.0.113.1 | 10.0.0.1"
            })
    void find_bothHeadersOfAny_isThePeerUnlessTheyAgree(String forwarded, String forwardedFor, String client) {
        assertThat(find(ForwardedHeader.ANY, "10.0.0.1", "Forwarded:" + forwarded, "X-Forwarded-For:" + forwardedFor))
                .isEqualTo(client);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {"203.0.113.1, 203.0.113.1", "'203.0.113.1, 10.0.0.1', 203.0.113.1", "x, none", "none, none"})
    void find_peerWithoutAnAddress_thatIsATrustedProxy_isWhomItNames(
            @Nullable String forwardedFor, @Nullable String client) {
        ClientAddress behind = new ClientAddress(
                List.of(AddressRange.parseProxy("unix"), AddressRange.parse("10.0.0.0/8")), ForwardedHeader.ANY);
        RecordedRequest request = new RecordedRequest().from("");
        if (forwardedFor != null) {
            request.with("X-Forwarded-For", forwardedFor);
        }
        IpAddress address = new IpAddress();

        assertThat(behind.find(request, address) ? address.toString() : null).isEqualTo(client);
        assertThat(behind)
                .hasToString("the remote address of the connection; behind unix, 10.0.0.0/8, by the one in Forwarded"
                        + " or X-Forwarded-For");
    }

    @Test
    void find_wrappedRequest_isThePeerOfTheOneReceived() {
        RecordedRequest received = new RecordedRequest().from("192.0.2.1");
        RecordedRequest wrapped = new RecordedRequest().from("198.51.100.66").wrapping(received);
        IpAddress address = new IpAddress();

        assertThat(new ClientAddress(List.of(), ForwardedHeader.ANY).find(wrapped, address))
                .isTrue();
        assertThat(address).hasToString("192.0.2.1");
    }

    @Test
    @DisplayName("C3 a header of 8 KiB is read from the right up to an address")
    void find_longHeader_isReadFromTheRight() {
        String garbage = "x,".repeat(4_096);

        assertThat(find(ForwardedHeader.ANY, "10.0.0.1", "X-Forwarded-For:" + garbage + "203.0.113.1"))
                .isEqualTo("203.0.113.1");
        assertThat(find(ForwardedHeader.ANY, "10.0.0.1", "X-Forwarded-For:" + garbage))
                .isEqualTo("10.0.0.1");
        assertThat(find(ForwardedHeader.ANY, "10.0.0.1", "Forwarded:" + "\"".repeat(8_192)))
                .isEqualTo("10.0.0.1");
        assertThat(find(ForwardedHeader.ANY, "10.0.0.1", "Forwarded:" + "for=\"".repeat(1_000)))
                .isEqualTo("10.0.0.1");
    }
}
