package dev.ratelimit.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LimitNotation;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.Stamp;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is known after calls of a connection that fail. */
class TransactionFaultsTest {

    private static final Policy TEN = Policy.of("ten", FixedWindow.of(Rate.parse("10/day")));

    private final SqlDecider decider = new SqlDecider(Dialect.H2, "ratelimit", LimitNotation.STANDARD, 20);
    private final List<String> called = new ArrayList<>();
    private TestDatabase database;

    @BeforeEach
    void start() {
        database = TestDatabase.h2();
    }

    @AfterEach
    void close() {
        database.close();
    }

    /** A connection whose methods of these names fail with these states. */
    private Connection failing(Map<String, String> states) {
        Connection inside = database.connect();
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    called.add(method.getName());
                    String state = states.get(method.getName());
                    if (state != null) {
                        throw new SQLException("as told", state);
                    }
                    try {
                        return method.invoke(inside, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private SQLException failure(Map<String, String> states) {
        Connection connection = failing(states);
        Order order = new Order(Operation.CHARGE, List.of(TEN.charge("k")), new Stamp(0, 1));
        return catchThrowableOfType(SQLException.class, () -> decider.execute(connection, List.of(order), () -> {}));
    }

    @Test
    void commit_fails_nobodyKnowsWhetherItWasExecuted() {
        SQLException failure = failure(Map.of("commit", "08006"));

        assertThat(failure.getSQLState()).isEqualTo(SqlDecider.UNKNOWN);
        assertThat(failure.getCause()).hasMessage("as told");
        assertThat(called).contains("rollback");
    }

    @Test
    void commit_failsWithARollback_nothingIsExecuted() {
        assertThat(failure(Map.of("commit", "40001")).getSQLState()).isEqualTo("40001");
    }

    @Test
    void rollback_failsToo_theFirstFailureIsTold_andNothingIsCommittedByTheNextCall() {
        SQLException failure = failure(Map.of("prepareStatement", "08006", "rollback", "08003"));

        assertThat(failure.getSQLState()).isEqualTo("08006");
        assertThat(failure.getSuppressed()).hasSize(1);
        // that would commit
        assertThat(called.lastIndexOf("setAutoCommit")).isEqualTo(called.indexOf("setAutoCommit"));
    }

    @Test
    void decider_nameOrTimeoutThatIsNotValid_isRefused() {
        for (String table : List.of("", "a b", "a;drop table b", "a.b.c", "1a", "\u00e9")) {
            assertThatThrownBy(() -> new SqlDecider(Dialect.H2, table, LimitNotation.STANDARD, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("but was '" + table + "'");
        }
        assertThatThrownBy(() -> new SqlDecider(Dialect.H2, "app.ratelimit", LimitNotation.STANDARD, 0))
                .hasMessage("timeoutSeconds must be at least 1 but was 0");
    }
}
