// SPDX-License-Identifier: BSD-3-Clause
// Errors: codes of the runtime, each with a text, and behind it what the runtime said.
import Foundation

public let ErrorDomain = "org.pytorch.executorch.error"

/// What calls throw. `catch ErrorCode.invalidArgument` works, and so does `error as NSError`.
public struct ErrorCode: Swift.Error, Equatable {
  public enum Code: Int, CaseIterable {
    case ok = 0, `internal` = 1, invalidState = 2, endOfMethod = 3, alreadyLoaded = 4
    case notSupported = 16, notImplemented, invalidArgument, invalidType, operatorMissing
    case registrationExceedingMaxKernels, registrationAlreadyRegistered
    case notFound = 32, memoryAllocationFailed, accessFailed, invalidProgram, invalidExternalData, outOfResources
    case delegateInvalidCompatibility = 48, delegateMemoryAllocationFailed, delegateInvalidHandle
  }

  public let code: Code
  /// The runtime's sentence: what was expected, what was found, and where; or nothing.
  public let reason: String?

  public init(_ code: Code, _ reason: String? = nil) {
    self.code = code
    self.reason = reason
  }
}

/// For `catch ErrorCode.invalidArgument`.
public func ~= (code: ErrorCode.Code, error: Swift.Error) -> Bool { (error as? ErrorCode)?.code == code }

extension ErrorCode {
  public static var ok: Code { .ok }
  public static var `internal`: Code { .internal }
  public static var invalidState: Code { .invalidState }
  public static var endOfMethod: Code { .endOfMethod }
  public static var alreadyLoaded: Code { .alreadyLoaded }
  public static var notSupported: Code { .notSupported }
  public static var notImplemented: Code { .notImplemented }
  public static var invalidArgument: Code { .invalidArgument }
  public static var invalidType: Code { .invalidType }
  public static var operatorMissing: Code { .operatorMissing }
  public static var registrationExceedingMaxKernels: Code { .registrationExceedingMaxKernels }
  public static var registrationAlreadyRegistered: Code { .registrationAlreadyRegistered }
  public static var notFound: Code { .notFound }
  public static var memoryAllocationFailed: Code { .memoryAllocationFailed }
  public static var accessFailed: Code { .accessFailed }
  public static var invalidProgram: Code { .invalidProgram }
  public static var invalidExternalData: Code { .invalidExternalData }
  public static var outOfResources: Code { .outOfResources }
  public static var delegateInvalidCompatibility: Code { .delegateInvalidCompatibility }
  public static var delegateMemoryAllocationFailed: Code { .delegateMemoryAllocationFailed }
  public static var delegateInvalidHandle: Code { .delegateInvalidHandle }
}

extension ErrorCode: LocalizedError, CustomNSError, CustomStringConvertible {
  public static var errorDomain: String { ErrorDomain }
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
  public var errorDescription: String? { description }
  public var description: String {
    let text = ErrorDescription(code)
    guard let reason, !reason.isEmpty else { return text }
    return text.isEmpty ? reason : "\(text): \(reason)"
  }
}

public func ErrorDescription(_ code: ErrorCode.Code) -> String {
  switch code {
  case .ok: return ""
  case .internal: return "Internal error"
  case .invalidState: return "Invalid executor state"
  case .endOfMethod: return "No more execution steps"
  case .alreadyLoaded: return "Already loaded"
  case .notSupported: return "Operation not supported"
  case .notImplemented: return "Operation not implemented"
  case .invalidArgument: return "Invalid argument"
  case .invalidType: return "Invalid type"
  case .operatorMissing: return "Operator missing"
  case .registrationExceedingMaxKernels: return "Exceeded maximum number of kernels"
  case .registrationAlreadyRegistered: return "Kernel is already registered"
  case .notFound: return "Resource not found"
  case .memoryAllocationFailed: return "Memory allocation failed"
  case .accessFailed: return "Access failed"
  case .invalidProgram: return "Invalid program contents"
  case .invalidExternalData: return "Invalid external data"
  case .outOfResources: return "Out of resources"
  case .delegateInvalidCompatibility: return "Delegate version incompatible"
  case .delegateMemoryAllocationFailed: return "Delegate memory allocation failed"
  case .delegateInvalidHandle: return "Delegate handle invalid"
  }
}

public func Error(code: ErrorCode.Code) -> NSError { Error(code: code, description: nil) }

public func Error(code: ErrorCode.Code, description: String?) -> NSError {
  NSError(domain: ErrorDomain, code: code.rawValue, userInfo: ErrorCode(code, description).errorUserInfo)
}
