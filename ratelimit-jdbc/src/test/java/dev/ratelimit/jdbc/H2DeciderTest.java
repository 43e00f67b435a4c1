package dev.ratelimit.jdbc;

class H2DeciderTest extends SqlDeciderContract {

    @Override
    TestDatabase start() {
        return TestDatabase.h2();
    }
}
