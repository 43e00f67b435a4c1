/** The filter: a servlet request is charged, admitted, parked or refused. */
@NullMarked
package dev.ratelimit.spring.servlet.filter;

import org.jspecify.annotations.NullMarked;
