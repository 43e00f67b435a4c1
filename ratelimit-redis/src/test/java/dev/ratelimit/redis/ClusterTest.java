package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ratelimit.Ticker;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.Partitions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The servers of slots, as servers report them; none of the servers exists. */
class ClusterTest {

    private static final String MASTER =
            "07c37dfeb235213a872192d90877d0cd55635b91 127.0.0.1:1@2 master - 0 0 4 connected";

    /** Returns what a test sets. */
    private static final class Seeds extends RedisClusterClient {

        private String nodes = MASTER + " 0-16383\n";
        private int looks;

        @Override
        public void refreshPartitions() {
            looks++;
        }

        @Override
        public Partitions getPartitions() {
            return ClusterPartitionParser.parse(nodes);
        }
    }

    private final Seeds seeds = new Seeds();
    private final Cluster cluster = new Cluster(new LettuceClusterConnector(seeds), Ticker.system(), new Random(1));

    @AfterEach
    void close() {
        seeds.shutdown(Duration.ZERO, Duration.ZERO);
    }

    private void connectInVain(String server) {
        assertThatExceptionOfType(RedisException.class).isThrownBy(() -> cluster.connect(server));
    }

    @Test
    void connect_noServerIsThere_looksForOthersOnceInTenSeconds() {
        connectInVain(Topology.ANY);
        connectInVain(Topology.ANY);

        assertThat(seeds.looks).isEqualTo(1);
    }

    @Test
    void connect_othersHaveSlots_believesThem() {
        connectInVain("127.0.0.1:1");
        assertThat(cluster.servers()).containsExactly("127.0.0.1:1");
        seeds.nodes = MASTER.replace(":1@", ":3@") + " 0-16383\n";

        connectInVain(Topology.ANY);

        assertThat(cluster.servers()).containsExactly("127.0.0.1:3");
    }

    @Test
    void connect_othersKnowOfNoSlots_keepsWhatIsKnown() {
        connectInVain("127.0.0.1:1");
        seeds.nodes = MASTER + "\n";

        connectInVain(Topology.ANY);

        assertThat(seeds.looks).isEqualTo(1);
        assertThat(cluster.servers()).containsExactly("127.0.0.1:1");
    }

    @Test
    void learn_otherServer_isAskedWithTheSettingsOfThoseThatAreKnown() {
        List<RedisURI> asked = new ArrayList<>();
        Partitions known = ClusterPartitionParser.parse(seeds.nodes);
        known.forEach(node -> node.setUri(RedisURI.builder(node.getUri())
                .withAuthentication("limiter", "secret")
                .withSsl(true)
                .build()));
        Cluster secured = new Cluster(new Recorder(known, asked), Ticker.system(), new Random(1));
        assertThatExceptionOfType(RedisException.class).isThrownBy(() -> secured.connect(Topology.ANY));

        assertThat(secured.learn(Topology.ANY, MASTER.replace(":1@", ":3@") + " 0-16383\n"))
                .isTrue();
        assertThatExceptionOfType(RedisException.class).isThrownBy(() -> secured.connect("127.0.0.1:3"));

        RedisURI last = asked.get(asked.size() - 1);
        assertThat(last.getPort()).isEqualTo(3);
        assertThat(last.getCredentialsProvider()
                        .resolveCredentials()
                        .map(RedisCredentials::getUsername)
                        .block())
                .isEqualTo("limiter");
        assertThat(last.isSsl()).isTrue();
    }

    /** Records where it is to connect, in vain. */
    private record Recorder(Partitions nodes, List<RedisURI> asked) implements ClusterConnector {

        @Override
        public Partitions refresh() {
            return nodes;
        }

        @Override
        public Connection connect(String server, RedisURI uri) {
            asked.add(uri);
            throw new RedisException("nobody is there");
        }
    }

    @Test
    void learn_emptyAnswer_keepsWhatIsKnown() {
        connectInVain(Topology.ANY);

        assertThat(cluster.learn(Topology.ANY, "")).isFalse();

        assertThat(cluster.servers()).containsExactly("127.0.0.1:1");
    }
}
