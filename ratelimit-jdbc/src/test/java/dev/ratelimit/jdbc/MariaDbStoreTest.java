package dev.ratelimit.jdbc;

import org.junit.jupiter.api.Tag;

@Tag("servers")
@Tag("nightly")
class MariaDbStoreTest extends SqlStoreContract {

    @Override
    TestDatabase start() {
        return TestDatabase.mariadb();
    }
}
