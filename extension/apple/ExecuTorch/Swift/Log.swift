// SPDX-License-Identifier: BSD-3-Clause
// What the runtime says beside errors, to those who ask.
import CExecuTorch
import Foundation

public enum LogLevel: Int {
  case debug = 68, info = 73, error = 69, fatal = 70, unknown = 63  // 'D', 'I', 'E', 'F', '?'
}

public protocol LogSink: AnyObject {
  /// `timestamp`: seconds since the first use of Log.
  func log(level: LogLevel, timestamp: TimeInterval, filename: String, line: UInt, message: String)
}

/// Keeps its sinks weakly and calls them one after the other. A sink that is added first gets up to 100 messages from before.
public final class Log {
  public static let shared = Log()

  private struct Record {
    let level: LogLevel, timestamp: TimeInterval, filename: String, line: UInt, message: String
    func send(to sink: LogSink) {
      sink.log(level: level, timestamp: timestamp, filename: filename, line: line, message: message)
    }
  }
  private struct Kept { weak var sink: LogSink? }

  private let queue = DispatchQueue(label: "org.pytorch.executorch.log")
  private let start = DispatchTime.now().uptimeNanoseconds
  private var records: [Record] = []
  private var sinks: [Kept] = []

  private init() {
    let status = api.set_log(
      { _, level, file, line, message in
        let levels: [LogLevel] = [.debug, .info, .error, .fatal]
        Log.shared.log(
          level: levels.indices.contains(Int(level)) ? levels[Int(level)] : .unknown,
          timestamp: Log.shared.elapsed,
          filename: text(file), line: UInt(line),
          message: text(message))
      }, nil)
    _ = api.release(status)
  }

  private var elapsed: TimeInterval { Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9 }

  public func add(sink: LogSink) {
    queue.async { [weak sink] in
      guard let sink, !self.sinks.contains(where: { $0.sink === sink }) else { return }
      self.sinks.append(Kept(sink: sink))
      self.records.forEach { $0.send(to: sink) }
    }
  }

  public func remove(sink: LogSink) {
    let identity = ObjectIdentifier(sink)
    queue.async { self.sinks.removeAll { $0.sink == nil || ObjectIdentifier($0.sink!) == identity } }
  }

  /// A message of the app's own, to the same sinks.
  public func log(level: LogLevel, timestamp: TimeInterval, filename: String, line: UInt, message: String) {
    let record = Record(level: level, timestamp: timestamp, filename: filename, line: line, message: message)
    queue.async {
      self.records.append(record)
      if self.records.count > 100 { self.records.removeFirst() }
      self.sinks.compactMap(\.sink).forEach { record.send(to: $0) }
    }
  }
}
