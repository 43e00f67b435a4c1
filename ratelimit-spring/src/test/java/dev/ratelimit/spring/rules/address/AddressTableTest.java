package dev.ratelimit.spring.rules.address;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Seeds;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AddressTableTest {

    private static IpAddress address(String text) {
        IpAddress address = new IpAddress();
        assertThat(address.readBare(text)).isTrue();
        return address;
    }

    /** The value of the narrowest of these networks, by asking each of them. */
    private static @Nullable String slowly(Map<AddressRange, String> networks, IpAddress address, int passing) {
        return networks.entrySet().stream()
                .filter(entry -> entry.getKey().contains(address))
                .filter(entry -> entry.getValue().hashCode() % 4 != passing)
                .max(Comparator.comparingInt(entry -> entry.getKey().prefix()))
                .map(Map.Entry::getValue)
                .orElse(null);
    }

    @Test
    void find_isTheNarrowestThatPasses_asByAskingEach() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            Map<AddressRange, String> networks = new HashMap<>();
            for (int i = random.nextInt(60); i > 0; i--) {
                String text = random(random) + "/" + (random.nextInt(32) + 1);
                networks.put(AddressRange.parse(text), text);
            }
            AddressTable<String> table = new AddressTable<>(networks);

            for (int i = 0; i < 50; i++) {
                IpAddress asked = address(random(random));
                assertThat(table.find(asked, value -> value.hashCode() % 4 != 1))
                        .as("seed %s, round %s, %s", seed, round, asked)
                        .isEqualTo(slowly(networks, asked, 1));
            }
            assertThat(table.values()).containsExactlyInAnyOrderElementsOf(networks.values());
        }
    }

    /** One of few addresses, so that networks contain each other. */
    private static String random(Random random) {
        return switch (random.nextInt(3)) {
            case 0 -> "10.0." + random.nextInt(3) + "." + random.nextInt(256);
            case 1 -> "2001:db8:" + random.nextInt(2) + "::" + random.nextInt(10);
            default -> "::" + random.nextInt(3) + ":" + random.nextInt(3);
        };
    }

    @Test
    void find_inNoNetworks_isNothing() {
        AddressTable<String> none = new AddressTable<>(Map.of());

        assertThat(none.isEmpty()).isTrue();
        assertThat(none.find(address("::1"), value -> true)).isNull();
    }

    @Test
    void find_ofMappedAndWholeNetworks_keepsTheFamiliesApart() {
        AddressTable<String> table =
                new AddressTable<>(Map.of(AddressRange.parse("0.0.0.0/0"), "v4", AddressRange.parse("::/0"), "v6"));

        assertThat(table.find(address("10.0.0.1"), value -> true)).isEqualTo("v4");
        assertThat(table.find(address("::ffff:10.0.0.1"), value -> true)).isEqualTo("v4");
        assertThat(table.find(address("::1"), value -> true)).isEqualTo("v6");
    }
}
