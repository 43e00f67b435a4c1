package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.FixedWindow;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** The contract notices mistakes of stores: each mistake here fails the corresponding test. */
@Tag("slow")
class RateLimitStoreContractTest {

    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of(AdmitsByKey.class, "charge_trace_admitsAsRecorded"),
                Arguments.of(ChargesAListInTurn.class, "chargeSeveral_oneOfThemRefuses_othersKeepTheirs"),
                Arguments.of(ChargesAndGivesBack.class, "chargeSeveral_refusedByManyThreads_refusesNobodyElse"),
                Arguments.of(ChargesAListInTurn.class, "chargeSeveral_refused_isAsIfItHadNeverBeen"),
                Arguments.of(AsksAndThenCharges.class, "charge_manyThreads_admitsExactlyTheLimit"),
                Arguments.of(ChargesWhenItPeeks.class, "peek_answersWithoutCharging"),
                Arguments.of(ResetsOneLimit.class, "reset_severalLimits_forgetsEach"),
                Arguments.of(RefundsAll.class, "refund_part_givesBackThatPart"),
                Arguments.of(JoinsNames.class, "charge_policiesAndKeys_haveBudgetsOfTheirOwn"),
                Arguments.of(ForgetsTheCaseOfPolicies.class, "charge_policiesAndKeys_haveBudgetsOfTheirOwn"),
                Arguments.of(ForgetsTheCaseOfKeys.class, "decide_keys_haveBudgetsOfTheirOwn"),
                Arguments.of(PeeksAsync.class, "charge_trace_admitsAsRecorded"),
                Arguments.of(PeeksAsync.class, "refundAsync_partThenAll_givesThatBack"),
                Arguments.of(ThrowsAsync.class, "asynchronousCalls_fail_failTheirStage"),
                Arguments.of(LosesCancelled.class, "decideAsync_cancelled_isAnsweredOrLeavesNothingCharged"),
                Arguments.of(OwnLimit.class, "refund_eachTime_theNextIsAdmitted"));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void contract_storeWithAMistake_fails(Class<?> contract, String test) {
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(contract))
                .filters(named(test))
                .build();

        LauncherFactory.create().execute(request, summary);

        assertThat(summary.getSummary().getTestsFoundCount()).isPositive();
        assertThat(summary.getSummary().getFailures())
                .isNotEmpty()
                .allSatisfy(failure -> assertThat(failure.getException()).isInstanceOf(AssertionError.class));
    }

    private static PostDiscoveryFilter named(String method) {
        return test -> FilterResult.includedIf(isNamed(test, method));
    }

    private static boolean isNamed(TestDescriptor test, String method) {
        return test.getSource()
                .map(source -> source instanceof org.junit.platform.engine.support.descriptor.MethodSource from
                        && from.getMethodName().equals(method))
                .orElse(false);
    }

    static class AdmitsByKey extends RateLimitStoreContract {
        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            return new LockedStore(time) {
                @Override
                public boolean tryCharge(Policy policy, String key, long permits) {
                    return true;
                }
            };
        }
    }

    static class PeeksAsync extends RateLimitStoreContract {
        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            return new LockedStore(time) {
                @Override
                public CompletionStage<Decision> decideAsync(List<Charge> charges) {
                    return peekAsync(charges);
                }
            };
        }
    }

    static class ThrowsAsync extends RateLimitStoreContract {
        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            return new LockedStore(time) {
                @Override
                public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
                    part.forEach(decision::indexOf);
                    return super.refundAsync(decision, part);
                }
            };
        }
    }

    static class LosesCancelled extends RateLimitStoreContract {
        @Override
        protected Stream<Limit> limits(Rate rate) {
            return Stream.of(FixedWindow.of(rate));
        }

        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            return new LockedStore(time) {
                @Override
                public CompletionStage<Decision> decideAsync(List<Charge> charges) {
                    CompletableFuture<Decision> decided = new CompletableFuture<>();
                    Decision decision = decide(charges);
                    time.schedule(() -> decided.complete(decision), 1);
                    return decided;
                }
            };
        }
    }

    static class ChargesAListInTurn extends RateLimitStoreContract {
        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            return new LockedStore(time) {
                @Override
                public boolean tryCharge(List<Charge> charges) {
                    return charges.stream().allMatch(this::tryCharge);
                }
            };
        }
    }

    static class ChargesAndGivesBack extends RateLimitStoreContract {
        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            return new InTurn(time);
        }
    }

    /** Charges one after another, each at its own time, and refunds if one refuses. */
    private static final class InTurn extends LockedStore {

        InTurn(Ticker ticker) {
            super(ticker);
        }

        @Override
        public Decision decide(List<Charge> charges) {
            List<Decision> taken = new ArrayList<>();
            List<LimitStatus> limits = new ArrayList<>();
            for (Charge charge : charges) {
                Decision decision = super.decide(List.of(charge));
                limits.addAll(decision.limits());
                if (!decision.admitted()) {
                    taken.forEach(this::refund);
                    return new Decision(false, charges, limits, null);
                }
                taken.add(decision);
                LockSupport.parkNanos(200_000); // lets other threads run, also on a busy machine
            }
            return new Decision(true, charges, limits, null);
        }
    }

    static class AsksAndThenCharges extends RateLimitStoreContract {
        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            return new LockedStore(time) {
                @Override
                public boolean tryCharge(Charge charge) {
                    boolean admitted = peek(List.of(charge)).admitted();
                    LockSupport.parkNanos(200_000); // lets other threads run, also on a busy machine
                    decide(List.of(charge));
                    return admitted;
                }
            };
        }
    }

    static class ChargesWhenItPeeks extends RateLimitStoreContract {
        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            return new LockedStore(time) {
                @Override
                public Decision peek(List<Charge> charges) {
                    return decide(charges);
                }
            };
        }
    }

    static class ResetsOneLimit extends RateLimitStoreContract {
        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            return new LockedStore(time) {
                @Override
                public boolean reset(Policy policy, String key) {
                    return super.reset(Policy.of(policy.name(), policy.limits().get(0)), key);
                }
            };
        }
    }

    static class RefundsAll extends RateLimitStoreContract {
        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            return new LockedStore(time) {
                @Override
                public void refund(Decision decision, List<Charge> part) {
                    super.refund(decision, decision.charges());
                }
            };
        }
    }

    static class JoinsNames extends RateLimitStoreContract {
        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            return new LockedStore(time) {
                @Override
                Object budget(String policy, int limit, String key) {
                    return limit + policy + key;
                }
            };
        }
    }

    static class ForgetsTheCaseOfPolicies extends RateLimitStoreContract {
        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            return new LockedStore(time) {
                @Override
                Object budget(String policy, int limit, String key) {
                    return super.budget(policy.toLowerCase(Locale.ROOT), limit, key);
                }
            };
        }
    }

    static class ForgetsTheCaseOfKeys extends RateLimitStoreContract {
        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            return new LockedStore(time) {
                @Override
                Object budget(String policy, int limit, String key) {
                    return super.budget(policy, limit, key.toLowerCase(Locale.ROOT));
                }
            };
        }
    }

    /** A custom limit that never refunds; the store is correct, and uses a field of the class. */
    static class OwnLimit extends RateLimitStoreContract {

        private final List<LockedStore> made = new ArrayList<>();

        @Override
        protected RateLimitStore newStore(FakeTicker time) {
            LockedStore store = new LockedStore(time);
            made.add(store);
            return store;
        }

        @Override
        protected Stream<Limit> limits(Rate rate) {
            Limit window = FixedWindow.of(rate);
            Limit own = (LimitAlgorithm) Proxy.newProxyInstance(
                    LimitAlgorithm.class.getClassLoader(),
                    new Class<?>[] {LimitAlgorithm.class},
                    (proxy, method, arguments) -> {
                        return switch (method.getName()) {
                            case "refund" -> null;
                            case "equals" -> proxy == arguments[0];
                            default -> method.invoke(window, arguments);
                        };
                    });
            return Stream.concat(super.limits(rate), Stream.of(own));
        }
    }
}
