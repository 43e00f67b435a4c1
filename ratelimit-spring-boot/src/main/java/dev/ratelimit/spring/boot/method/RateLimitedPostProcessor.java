package dev.ratelimit.spring.boot.method;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.config.Mistakes;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.Ordered;

/**
 * Lets beans with limited methods charge their calls, by a proxy or by the proxy that they already have. It runs before
 * post-processors of the lowest precedence: those that look for listeners, such as of messages, must see the proxy.
 */
public final class RateLimitedPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

    private static final long serialVersionUID = 1;

    private final transient Advisor limits;

    /** The classes that cannot be limited, of beans that have been created before the start reports its mistakes. */
    private final transient Map<Class<?>, RateLimitConfigurationException> unlimited = new ConcurrentHashMap<>();

    private transient volatile boolean reported;

    public RateLimitedPostProcessor(Advisor limits) {
        this.limits = limits;
        this.advisor = limits;
        setBeforeExistingAdvisors(true);
        setOrder(Ordered.LOWEST_PRECEDENCE - 1);
    }

    /** What charges calls. */
    public Advisor limits() {
        return limits;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        // the target of a generated implementation may not have the interface with the annotation
        if (bean instanceof Advised advised
                && Proxy.isProxyClass(bean.getClass())
                && !advised.isFrozen()
                && !isEligible(AopUtils.getTargetClass(bean))
                && isEligible(bean.getClass())) {
            advised.addAdvisor(0, limits);
            return bean;
        }
        try {
            return super.postProcessAfterInitialization(bean, beanName);
        } catch (RateLimitConfigurationException e) {
            if (reported) {
                throw e;
            }
            unlimited.put(bean.getClass(), e);
            return bean;
        }
    }

    /** Adds the classes that cannot be limited. From now on, the creation of such a bean fails. */
    void addTo(Mistakes mistakes) {
        reported = true;
        unlimited.forEach((type, mistake) -> mistakes.collect(type, null, () -> {
            throw mistake;
        }));
    }

    /** Whether the mistake is known that calls of this class cannot be limited. */
    boolean isUnlimited(Class<?> type) {
        return unlimited.containsKey(type);
    }

    @Override
    protected ProxyFactory prepareProxyFactory(Object bean, String beanName) {
        ProxyFactory factory = super.prepareProxyFactory(bean, beanName);
        if (RateLimitedPointcut.isController(bean.getClass())) {
            // Spring MVC does not recognize controllers behind an interface
            factory.setProxyTargetClass(true);
        }
        if (factory.isProxyTargetClass()
                && Modifier.isFinal(bean.getClass().getModifiers())
                && !Proxy.isProxyClass(bean.getClass())) {
            throw new RateLimitConfigurationException(
                    "@RateLimited on " + bean.getClass().getSimpleName(),
                    null,
                    bean.getClass().isHidden()
                            ? "calls of a lambda cannot be limited; write a class, or spring.aop.proxy-target-class: false"
                            : "calls of a final class cannot be limited; remove final");
        }
        return factory;
    }

    /**
     * Charges calls before anything else happens, such as before transactions and before calls are handed to another
     * thread: other post-processors have added their advice in front meanwhile. Without an order, so that it comes last.
     *
     * @param limits the advisor
     */
    public record First(Advisor limits) implements BeanPostProcessor {

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            if (bean instanceof Advised advised && !advised.isFrozen() && advised.indexOf(limits) > 0) {
                advised.removeAdvisor(limits);
                advised.addAdvisor(0, limits);
            }
            return bean;
        }
    }
}
