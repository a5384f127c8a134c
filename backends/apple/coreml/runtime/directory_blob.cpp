// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/apple/coreml/runtime/directory_blob.h>
#include <executorch/backends/apple/coreml/runtime/json_member.h>
#include <executorch/runtime/backend/files/folders.h>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

namespace executorch::backends::coreml {

using runtime::is_file;
using runtime::is_folder;
using runtime::list_folder;

namespace {

constexpr uint64_t kFile = 0;
constexpr uint64_t kDirectory = 1;
constexpr size_t kMaxDepth = 64;  // directories in directories

bool fail(std::string* error, std::string text) {
  *error = std::move(text);
  return false;
}

/// Where the JSON ends that is read backwards from `end`, whose first character is a brace: just
/// behind the brace that closes it. 0 where it is not closed.
size_t json_length(std::string_view reversed) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t place = 0; place < reversed.size(); ++place) {
    const char c = reversed[reversed.size() - 1 - place];
    if (in_string) {
      if (c == '\\') {
        ++place;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return place + 1;
    }
  }
  return 0;
}

bool is_safe_name(const std::string& name) {
  constexpr std::string_view separators("/\\\0", 3);
  return !name.empty() && name != "." && name != ".." && name.size() <= 255 &&
         name.find_first_of(separators.data(), 0, separators.size()) == std::string::npos;
}

bool read_number(const Json* value, uint64_t* number) {
  if (value == nullptr || !value->is_number_unsigned()) {
    return false;
  }
  *number = value->get<uint64_t>();
  return true;
}

bool read_name(const Json& json, BlobNode* node, const std::string& where, std::string* error) {
  const Json* name = member(json, "name");
  if (name == nullptr || !name->is_string() || !is_safe_name(name->get_ref<const std::string&>())) {
    return fail(error, where + " has no name of one path component: found " +
                           (name ? text_of(*name) : "none"));
  }
  node->name = name->get<std::string>();
  return true;
}

bool read_contents(const Json& json, std::string_view files, BlobNode* node,
                   const std::string& where, std::string* error) {
  const Json* region = member(json, "dataRegion");
  uint64_t offset = 0;
  uint64_t size = 0;
  if (region == nullptr || !read_number(member(*region, "offset"), &offset) ||
      !read_number(member(*region, "size"), &size)) {
    return fail(error, where + " has no dataRegion of an offset and a size");
  }
  if (offset > files.size() || size > files.size() - offset) {
    return fail(error, where + " has bytes " + std::to_string(offset) + " + " +
                           std::to_string(size) + ", the blob has " + std::to_string(files.size()) +
                           " of files");
  }
  node->contents = files.substr(offset, size);
  return true;
}

/// `parented`: which nodes stand in a directory by now; `depth`: of directories below a node.
struct Tree {
  std::vector<bool> parented;
  std::vector<size_t> depth;
};

bool read_children(const Json& json, size_t index, Tree* tree, BlobNode* node,
                   const std::string& where, std::string* error) {
  const Json* children = member(json, "children");
  if (children == nullptr) {
    return true;
  }
  if (!children->is_object()) {
    return fail(error, where + " has children that are not names with places");
  }
  for (const auto& [name, place] : children->items()) {
    uint64_t child = 0;
    if (!is_safe_name(name)) {
      return fail(error, where + " has a child whose name is no path component");
    }
    if (!read_number(&place, &child) || child >= index) {
      return fail(error, where + " has child " + name + ", expected one of the nodes before it");
    }
    if (tree->parented[child]) {
      return fail(error, "node " + std::to_string(child) + " is in two directories");
    }
    tree->parented[child] = true;
    tree->depth[index] = std::max(tree->depth[index], tree->depth[child] + 1);
    node->children.emplace_back(name, static_cast<size_t>(child));
  }
  if (tree->depth[index] > kMaxDepth) {
    return fail(error, where + " has more than " + std::to_string(kMaxDepth) + " levels below it");
  }
  return true;
}

bool read_node(const Json& json, size_t index, std::string_view files, Tree* tree, BlobNode* node,
               std::string* error) {
  const std::string where = "node " + std::to_string(index);
  uint64_t kind = 0;
  if (!read_name(json, node, where, error)) {
    return false;
  }
  if (!read_number(member(json, "kind"), &kind) || (kind != kFile && kind != kDirectory)) {
    return fail(error, where + " is neither a file (kind 0) nor a directory (kind 1)");
  }
  node->is_directory = kind == kDirectory;
  if (node->is_directory) {
    return read_children(json, index, tree, node, where, error);
  }
  const Json* children = member(json, "children");
  if (children != nullptr && !children->empty()) {
    return fail(error, where + " is a file with children");
  }
  return read_contents(json, files, node, where, error);
}

std::string system_error() {
  return std::strerror(errno);
}

std::string below(const std::string& directory, const std::string& name) {
  return directory + "/" + name;
}

/// The last component of a path that realpath() gives.
std::string name_of(const std::string& real) {
  return real.substr(real.find_last_of('/') + 1);
}

bool write_file(const std::string& path, std::string_view contents, std::string* error) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  out.close();
  return out ? true : fail(error, "cannot write " + path);
}

class Maker {
 public:
  Maker(std::string* blob, std::string* error) : blob_(blob), error_(error) {}

  bool add(const std::string& path, const std::string& name, size_t depth, size_t* index) {
    if (!is_safe_name(name) || depth > kMaxDepth) {
      return fail(error_, "cannot flatten " + path + ": its name or depth");
    }
    Json node = {{"name", name}, {"children", Json::object()}};
    const bool is_added =
        is_folder(path) ? add_children(path, depth, &node) : add_bytes(path, &node);
    *index = nodes_.size();
    nodes_.push_back(std::move(node));
    return is_added;
  }

  void finish() {
    Json json = Json::object();
    json["nodes"] = std::move(nodes_);
    const std::string text = text_of(json);
    blob_->append(text.rbegin(), text.rend());
  }

 private:
  bool add_children(const std::string& path, size_t depth, Json* node) {
    std::vector<std::string> names;
    if (!list_folder(path, &names)) {
      return fail(error_, "cannot read the directory " + path + ": " + system_error());
    }
    for (const std::string& name : names) {
      size_t index = 0;
      if (!add(below(path, name), name, depth + 1, &index)) {
        return false;
      }
      (*node)["children"][name] = index;
    }
    (*node)["kind"] = kDirectory;
    (*node)["dataRegion"] = {{"offset", 0}, {"size", 0}};
    return true;
  }

  bool add_bytes(const std::string& path, Json* node) {
    std::ifstream in(path, std::ios::binary);
    if (!is_file(path) || !in) {
      return fail(error_, "cannot read the file " + path);
    }
    const size_t offset = blob_->size();
    blob_->append(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    (*node)["kind"] = kFile;
    (*node)["dataRegion"] = {{"offset", offset}, {"size", blob_->size() - offset}};
    return true;
  }

  std::string* blob_;
  std::string* error_;
  std::vector<Json> nodes_;
};

}  // namespace

bool read_directory_blob(std::string_view blob, std::vector<BlobNode>* nodes, std::string* error) {
  const size_t last = blob.find_last_not_of('\0');
  if (last == std::string_view::npos || blob[last] != '{') {
    return fail(error, "a flattened directory ends with reversed JSON; found none in " +
                           std::to_string(blob.size()) + " bytes");
  }
  const std::string_view used = blob.substr(0, last + 1);
  const size_t length = json_length(used);
  const std::string_view reversed = used.substr(used.size() - length);
  const std::string text(reversed.rbegin(), reversed.rend());
  const std::string_view files = used.substr(0, used.size() - length);
  const Json json = Json::parse(text, nullptr, false);
  const Json* listed = member(json, "nodes");
  if (length == 0 || listed == nullptr || !listed->is_array() || listed->empty()) {
    return fail(error, "the JSON at the end of a flattened directory has no list of nodes");
  }
  const size_t count = listed->size();
  Tree tree{std::vector<bool>(count), std::vector<size_t>(count)};
  nodes->assign(count, {});
  for (size_t index = 0; index < count; ++index) {
    if (!read_node((*listed)[index], index, files, &tree, &(*nodes)[index], error)) {
      return false;
    }
  }
  const auto stray = std::find(tree.parented.begin(), tree.parented.end() - 1, false);
  if (stray != tree.parented.end() - 1) {
    return fail(error, "node " + std::to_string(stray - tree.parented.begin()) +
                           " is in no directory, and only the last may be the root");
  }
  if (!nodes->back().is_directory) {
    return fail(error, "the last node, the root, is a file; expected a directory");
  }
  return true;
}

bool write_node(const std::vector<BlobNode>& nodes, size_t index, const std::string& path,
                std::string* error) {
  const BlobNode& node = nodes[index];
  if (!node.is_directory) {
    return write_file(path, node.contents, error);
  }
  if (mkdir(path.c_str(), 0777) != 0) {
    return fail(error, "cannot make the directory " + path + ": " + system_error());
  }
  // Depth is bounded by what was read.
  return std::all_of(node.children.begin(), node.children.end(), [&](const auto& child) {
    return write_node(nodes, child.second, below(path, child.first), error);
  });
}

bool write_directory(std::string_view blob, const std::string& folder, std::string* error) {
  std::vector<BlobNode> nodes;
  if (!read_directory_blob(blob, &nodes, error)) {
    return false;
  }
  if (!is_folder(folder)) {
    return fail(error, "expected a directory at " + folder + ", found none");
  }
  return write_node(nodes, nodes.size() - 1, below(folder, nodes.back().name), error);
}

bool make_directory_blob(const std::string& path, std::string* blob, std::string* error) {
  if (!is_folder(path)) {
    return fail(error, "expected a directory at " + path + ", found none");
  }
  // A link is called what it leads to, and so is a path that ends with a separator.
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
  if (real == nullptr) {
    return fail(error, "cannot read " + path + ": " + system_error());
  }
  blob->clear();
  Maker maker(blob, error);
  size_t root = 0;
  if (!maker.add(real.get(), name_of(real.get()), 0, &root)) {
    return false;
  }
  maker.finish();
  return true;
}

bool find_node(const std::vector<BlobNode>& nodes, std::string_view path, size_t* index) {
  if (nodes.empty()) {
    return false;
  }
  size_t at = nodes.size() - 1;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    const auto& children = nodes[at].children;
    const auto child = std::find_if(children.begin(), children.end(),
                                    [&](const auto& each) { return each.first == name; });
    if (child == children.end()) {
      return false;
    }
    at = child->second;
  }
  *index = at;
  return true;
}

bool find_file(const std::vector<BlobNode>& nodes, std::string_view path,
               std::string_view* contents) {
  size_t index = 0;
  if (!find_node(nodes, path, &index) || nodes[index].is_directory) {
    return false;
  }
  *contents = nodes[index].contents;
  return true;
}

}  // namespace executorch::backends::coreml
