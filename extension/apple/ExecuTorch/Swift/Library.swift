// SPDX-License-Identifier: BSD-3-Clause
// The table of C functions, its statuses as Swift errors, its handles as objects.
import CExecuTorch
import Foundation

let api: ExecuTorchApi = {
  guard let table = executorch_get_api(UInt32(EXECUTORCH_API_VERSION)) else {
    fatalError("the ExecuTorch library is older than version \(EXECUTORCH_API_VERSION) of its C interface")
  }
  return table.pointee
}()

/// Throws what a status says: its code, with the runtime's sentence.
func check(_ status: ExecuTorchStatus) throws {
  guard status != 0 else { return }
  defer { _ = api.release(status) }
  let code = ErrorCode.Code(rawValue: Int(api.status_code(status))) ?? .internal
  throw ErrorCode(code, text(api.status_message(status)))
}

func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

/// For initializers that cannot fail: a wrong argument is the caller's error.
func require(_ status: ExecuTorchStatus, file: StaticString = #file, line: UInt = #line) {
  do { try check(status) } catch { fatalError("\(error)", file: file, line: line) }
}

/// Releases what the library knows by a number when the last user of this object goes.
final class Handle {
  let number: UInt64
  init(_ number: UInt64) { self.number = number }
  deinit { _ = api.release(number) }
}

func withSize<Structure>(_ structure: inout Structure, _ member: WritableKeyPath<Structure, Int>) {
  structure[keyPath: member] = MemoryLayout<Structure>.size
}

/// C strings that stay until the call returns.
func withCStrings<Result>(
  _ texts: [String], _ body: ([UnsafePointer<CChar>?]) throws -> Result
) rethrows -> Result {
  let copies = texts.map { strdup($0) }
  defer { copies.forEach { free($0) } }
  return try body(copies.map { UnsafePointer($0) })
}
