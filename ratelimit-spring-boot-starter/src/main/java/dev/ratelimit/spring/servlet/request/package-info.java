/** A servlet request and its response, as rules see them. */
@NullMarked
package dev.ratelimit.spring.servlet.request;

import org.jspecify.annotations.NullMarked;
