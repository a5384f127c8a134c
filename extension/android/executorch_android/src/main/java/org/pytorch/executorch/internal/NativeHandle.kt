// SPDX-License-Identifier: BSD-3-Clause
// Owns a native object on behalf of a Java object: calls of it wait for each other, and it is freed when told to, or when the
// Java object is garbage.
package org.pytorch.executorch.internal

import java.lang.ref.PhantomReference
import java.lang.ref.ReferenceQueue
import java.util.Collections
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.thread

/** [name] is the class's, for messages. Threads: any. */
internal class NativeHandle(owner: Any, private var address: Long, private val name: String) :
  PhantomReference<Any>(owner, GARBAGE) {
  private val lock = ReentrantLock()

  init {
    ALL.add(this)
  }

  val isFreed: Boolean
    get() = address == 0L

  /** Calls with the address. IllegalStateException once it is freed, and on a thread that is in a call already. */
  inline fun <T> use(call: (Long) -> T): T {
    checkNotInCallback()
    lock.lock()
    try {
      check(address != 0L) { "$name has been destroyed" }
      return call(address)
    } finally {
      lock.unlock()
    }
  }

  /** For what may be called during a call of another thread, which sees to it that the object lives. */
  fun addressInCall(): Long = address

  /** No effect the second time. IllegalStateException with the message while another thread calls. */
  fun close(busyMessage: String) {
    checkNotInCallback()
    check(lock.tryLock()) { busyMessage }
    try {
      free()
    } finally {
      lock.unlock()
    }
  }

  private fun checkNotInCallback() =
    check(!lock.isHeldByCurrentThread) { "Cannot call $name methods from within a callback" }

  private fun free() {
    ALL.remove(this)
    val freed = address
    address = 0
    if (freed != 0L) Natives.free(freed)
  }

  companion object {
    private val GARBAGE = ReferenceQueue<Any>()
    private val ALL = Collections.synchronizedSet(HashSet<NativeHandle>())

    init {
      thread(isDaemon = true, name = "executorch-free") {
        while (true) {
          val handle = GARBAGE.remove() as NativeHandle
          // An object may be garbage while its last call still runs: nothing in it is needed any more then.
          handle.lock.lock()
          handle.free()
          handle.lock.unlock()
        }
      }
    }
  }
}
