// SPDX-License-Identifier: BSD-3-Clause
// The screen: model, tokenizer and format, a prompt, an answer.
package org.pytorch.executorch.llamademo

import android.app.Activity
import android.os.Bundle
import android.view.View
import android.widget.ArrayAdapter
import android.widget.Button
import android.widget.EditText
import android.widget.LinearLayout
import android.widget.ScrollView
import android.widget.Spinner
import android.widget.TextView
import java.util.concurrent.Executors

class MainActivity : Activity(), ChatView {
  private val worker = Executors.newSingleThreadExecutor()
  private val chat = Chat(this)
  private lateinit var status: TextView
  private lateinit var answer: TextView

  override fun onCreate(savedInstanceState: Bundle?) {
    super.onCreate(savedInstanceState)
    val files = ModelFiles()
    val models = choice(files.models)
    val tokenizers = choice(files.tokenizers)
    val formats = choice(PromptFormat.values().map { it.label })
    val prompt = EditText(this)
    status = TextView(this)
    answer = TextView(this)
    val load = button("LOAD MODEL") {
      val model = models.selectedItem?.toString() ?: ""
      val tokenizer = tokenizers.selectedItem?.toString() ?: ""
      val format = PromptFormat.values()[formats.selectedItemPosition]
      worker.execute { chat.load(model, tokenizer, format) }
    }
    val send = button("SEND") {
      val text = prompt.text.toString()
      worker.execute { chat.ask(text) }
    }
    val stop = button("STOP") { chat.stop() }
    val clear = button("NEW CHAT") {
      chat.stop()
      worker.execute { chat.clear() }
      answer.text = ""
    }
    val column = LinearLayout(this)
    column.orientation = LinearLayout.VERTICAL
    val views = listOf<View>(models, tokenizers, formats, load, status, prompt, send, stop, clear, answer)
    views.forEach { column.addView(it) }
    val scroll = ScrollView(this)
    scroll.addView(column)
    setContentView(scroll)
  }

  override fun onDestroy() {
    chat.stop()
    worker.execute { chat.close() }
    worker.shutdown()
    super.onDestroy()
  }

  override fun onStatus(text: String) = runOnUiThread { status.text = text }

  override fun onAnswer(piece: String) = runOnUiThread { answer.append(piece) }

  private fun choice(items: List<String>): Spinner {
    val spinner = Spinner(this)
    spinner.adapter = ArrayAdapter(this, android.R.layout.simple_spinner_dropdown_item, items)
    return spinner
  }

  private fun button(label: String, action: () -> Unit): Button {
    val button = Button(this)
    button.text = label
    button.setOnClickListener { action() }
    return button
  }
}
