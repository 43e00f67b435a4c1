package dev.ratelimit.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Tag;

@Tag("servers")
class PostgresqlDeciderTest extends SqlDeciderContract {

    @Override
    TestDatabase start() {
        return TestDatabase.postgresql();
    }

    @Override
    void beReluctant(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("set deadlock_timeout = '1h'");
        }
    }
}
