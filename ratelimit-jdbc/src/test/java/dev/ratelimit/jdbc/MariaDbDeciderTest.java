package dev.ratelimit.jdbc;

import org.junit.jupiter.api.Tag;

@Tag("servers")
class MariaDbDeciderTest extends SqlDeciderContract {

    @Override
    TestDatabase start() {
        return TestDatabase.mariadb();
    }
}
