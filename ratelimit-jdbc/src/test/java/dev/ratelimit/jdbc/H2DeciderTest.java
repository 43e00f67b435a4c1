package dev.ratelimit.jdbc;

class H2DeciderTest extends SqlDeciderContract {

    @Override
    Database start() {
        return Database.h2();
    }
}
