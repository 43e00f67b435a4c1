/**
 * Faults that tests inject, in every module: whatever is called may throw, once, at any call.
 *
 * <p>A {@link dev.ratelimit.faults.Scenario} uses collaborators on a {@link dev.ratelimit.faults.Fuse};
 * {@link dev.ratelimit.faults.EveryCall} runs it once for each of their calls. {@link dev.ratelimit.faults.Starvation}
 * adds the allocations of a package to these calls, by
 * {@link dev.ratelimit.faults.Weaving}.
 */
@NullMarked
package dev.ratelimit.faults;

import org.jspecify.annotations.NullMarked;
