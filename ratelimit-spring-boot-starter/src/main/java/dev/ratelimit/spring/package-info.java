/** Rate limits for web applications: the annotation, and the rules that say who pays what for which request. */
@NullMarked
package dev.ratelimit.spring;

import org.jspecify.annotations.NullMarked;
