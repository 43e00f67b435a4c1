package dev.ratelimit.redis.server;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;

/**
 * A {@link RedisServer}, {@link RedisCluster} or {@link RedisReplication} that is started and closed for all tests of the
 * class, or for each of them if the field is not static.
 */
@Target(ElementType.FIELD)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(Started.Starter.class)
public @interface Started {

    /** Additional options of the servers. */
    String[] value() default {};

    /** Sets the fields. */
    final class Starter implements BeforeAllCallback, BeforeEachCallback {

        @Override
        public void beforeAll(ExtensionContext context) throws IllegalAccessException {
            start(context, null);
        }

        @Override
        public void beforeEach(ExtensionContext context) throws IllegalAccessException {
            start(context, context.getRequiredTestInstance());
        }

        private static void start(ExtensionContext context, @Nullable Object test) throws IllegalAccessException {
            for (Field field : AnnotationSupport.findAnnotatedFields(
                    context.getRequiredTestClass(),
                    Started.class,
                    field -> Modifier.isStatic(field.getModifiers()) == (test == null),
                    HierarchyTraversalMode.TOP_DOWN)) {
                AutoCloseable servers = start(
                        field.getType(), field.getAnnotation(Started.class).value());
                // the context closes what it stores
                context.getStore(ExtensionContext.Namespace.create(Starter.class))
                        .put(field, servers);
                field.setAccessible(true);
                field.set(test, servers);
            }
        }

        private static AutoCloseable start(Class<?> type, String... options) {
            if (type == RedisServer.class) {
                return RedisServer.start(options);
            }
            return type == RedisCluster.class ? RedisCluster.start(options) : RedisReplication.start(options);
        }
    }
}
