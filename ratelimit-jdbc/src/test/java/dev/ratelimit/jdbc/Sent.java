package dev.ratelimit.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.List;

/** What is sent on a connection, each of which is a round trip. */
final class Sent {

    private final List<String> trips = new ArrayList<>();
    private final Connection connection;

    Sent(Connection connection) {
        this.connection = proxy(Connection.class, connection, "");
    }

    Connection connection() {
        return connection;
    }

    /** What has been sent since the last call. */
    List<String> trips() {
        List<String> sent = List.copyOf(trips);
        trips.clear();
        return sent;
    }

    private <T> T proxy(Class<T> type, T inside, String sql) {
        return type.cast(Proxy.newProxyInstance(
                Sent.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    note(method, sql);
                    try {
                        Object result = method.invoke(inside, arguments);
                        return result instanceof PreparedStatement statement
                                ? proxy(PreparedStatement.class, statement, (String) arguments[0])
                                : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    private void note(Method method, String sql) {
        if (method.getName().startsWith("execute")) {
            trips.add(sql.split(" ", 2)[0]);
        } else if (method.getName().equals("commit") || method.getName().equals("rollback")) {
            trips.add(method.getName());
        }
    }
}
