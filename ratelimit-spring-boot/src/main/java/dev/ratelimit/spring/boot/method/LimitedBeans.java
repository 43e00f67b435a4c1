package dev.ratelimit.spring.boot.method;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.boot.version.Boot;
import dev.ratelimit.spring.rules.config.AnnotatedRules;
import dev.ratelimit.spring.rules.config.Mistakes;
import dev.ratelimit.spring.rules.decision.RequestRules;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.MethodIntrospector;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.method.HandlerMethod;

/** The beans with limits on methods that handle no requests, and whether their calls can be intercepted. */
public final class LimitedBeans {

    private final ConfigurableListableBeanFactory beans;

    /** Charges calls; {@code null} if nothing does. */
    private final @Nullable RateLimitedPostProcessor processor;

    public LimitedBeans(ApplicationContext context) {
        this.beans = ((ConfigurableApplicationContext) context).getBeanFactory();
        this.processor = context.getBeanProvider(RateLimitedPostProcessor.class).getIfUnique();
    }

    /** Reads the annotations of all beans that are no controllers. */
    public void addTo(RequestRules rules, Mistakes mistakes) {
        if (processor != null) {
            processor.addTo(mistakes);
        }
        List<String> names = new ArrayList<>();
        // also of objects that were registered as they are
        beans.getBeanNamesIterator().forEachRemaining(names::add);
        for (String name : names) {
            Class<?> type = typeOf(name);
            if (type != null && !RateLimitedPointcut.isController(type)) {
                for (Method method : limited(type)) {
                    CallTarget target = CallTarget.of(type, method);
                    mistakes.collect(target.type(), target.method(), () -> {
                        if (rules.addCall(target.type(), target.method())) {
                            check(target, instance(name));
                        }
                    });
                }
            }
        }
    }

    private @Nullable Class<?> typeOf(String name) {
        Class<?> type = AutoProxyUtils.determineTargetClass(beans, name);
        if (type == null || !AnnotatedRules.anyOnIfReadable(type)) {
            return null;
        }
        // calls of a proxy that the application has made are calls of its target
        return instance(name) instanceof Advised advised ? AopUtils.getTargetClass(advised) : type;
    }

    private static Set<Method> limited(Class<?> type) {
        return MethodIntrospector.selectMethods(type, (ReflectionUtils.MethodFilter) method -> {
            CallTarget target = CallTarget.of(type, method);
            return AnnotatedRules.mayLimitCallsOf(target.type(), target.method());
        });
    }

    /**
     * Checks that calls of a handler are intercepted.
     *
     * @throws RateLimitConfigurationException if they cannot be
     */
    public void checkHandler(HandlerMethod handler) {
        Object bean = handler.getBean();
        CallTarget target = new CallTarget(handler.getBeanType(), handler.getMethod());
        check(target, bean instanceof String name ? instance(name) : bean);
    }

    private void check(CallTarget target, @Nullable Object bean) {
        if (Modifier.isPrivate(target.method().getModifiers())) {
            throw mistake(target, "calls of a private method cannot be limited; make it public");
        }
        if (bean == null
                || bean instanceof AopInfrastructureBean
                || (processor != null && processor.isUnlimited(bean.getClass()))) {
            return;
        }
        if (!(bean instanceof Advised advised) || processor == null || advised.indexOf(processor.limits()) < 0) {
            if (Boot.TEST_OVERRIDES.stream().anyMatch(beans::containsBean)) {
                // a mock, or another object of the test
                return;
            }
            throw mistake(
                    target,
                    "calls of this bean cannot be limited, because it was created too early, or registered as an object;"
                            + " do not let a BeanPostProcessor depend on it, or use RateLimiter there");
        }
        if (AopUtils.isCglibProxy(bean) && Modifier.isFinal(target.method().getModifiers())) {
            throw mistake(target, "calls of a final method cannot be limited; remove final");
        }
        if (Proxy.isProxyClass(bean.getClass()) && !isIn(bean, target)) {
            throw mistake(
                    target,
                    "only calls by the bean's interfaces are limited, and none of them has this method; add it to one of"
                            + " them, or remove spring.aop.proxy-target-class: false");
        }
    }

    private static boolean isIn(Object proxy, CallTarget target) {
        Class<?> type = AopUtils.getTargetClass(proxy);
        return Stream.of(proxy.getClass().getInterfaces())
                .flatMap(declaring -> Stream.of(declaring.getMethods()))
                .anyMatch(method -> CallTarget.of(type, method).equals(target));
    }

    private @Nullable Object instance(String name) {
        return beans.containsSingleton(name) && beans.isSingleton(name) ? beans.getBean(name) : null;
    }

    private static RateLimitConfigurationException mistake(CallTarget target, String reason) {
        return AnnotatedRules.mistake(target.type(), target.method(), reason);
    }
}
