package dev.ratelimit.spring.boot.method;

import dev.ratelimit.spring.RateLimitConfigurationException;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
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
        return super.postProcessAfterInitialization(bean, beanName);
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
