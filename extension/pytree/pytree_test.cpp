// SPDX-License-Identifier: BSD-3-Clause
// Trees: flatten, put together, text and back, and text that is refused.
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <executorch/extension/pytree/pytree.h>

using namespace executorch::extension::pytree;
using Tree = ContainerHandle<int, Empty>;
using Node = Container<int, Empty>;

namespace {

// (a, {'o': [b, c], 3: ()})
Tree example(int* leaves) {
  Tree list(new Node(Kind::List, 2));
  list[0] = Tree(new Node(&leaves[1]));
  list[1] = Tree(new Node(&leaves[2]));
  Tree dict(new Node(Kind::Dict, 2));
  dict.key(0) = Key(KeyStr("o"));
  dict.key(1) = Key(KeyInt(3));
  dict[0] = std::move(list);
  dict[1] = Tree(new Node(Kind::Tuple));
  Tree root(new Node(Kind::Tuple, 2));
  root[0] = Tree(new Node(&leaves[0]));
  root[1] = std::move(dict);
  return root;
}

constexpr char kExample[] = "T2#1#2($,D2#2#0('o':L2#1#1($,$),3:T0()))";

}  // namespace

TEST(PytreeTest, FlattensToLeavesInOrderAndBack) {
  RecordProperty("req", "EXT-028");
  int leaves[] = {7, 8, 9};
  Tree tree = example(leaves);
  auto [found, spec] = flatten(tree);
  ASSERT_EQ(found.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found[i], &leaves[i]);
  }
  EXPECT_EQ(spec->leaves_num(), 3u);
  int others[] = {1, 2, 3};
  const Tree again = unflatten<int>(*spec, others);
  EXPECT_EQ(again[0].leaf(), 1);
  EXPECT_EQ(again[1].at(KeyStr("o"))[1].leaf(), 3);
  EXPECT_TRUE(again[1].contains("o"));
  EXPECT_FALSE(again[1].contains("p"));
  EXPECT_EQ(again[1].at(KeyInt(3)).size(), 0u);
  EXPECT_TRUE(tree == again);
  const Tree& constant = tree;
  EXPECT_EQ(*flatten(constant).first[2], 9);
}

TEST(PytreeTest, ItemsAreAssignedLeavesAndNodesOfEveryKind) {
  int leaves[] = {7, 8, 9, 10, 11};
  Tree root = new Node(Kind::Tuple, 5);
  root[0] = &leaves[0];
  Node* const list = new Node(Kind::List, 1);
  list->items[0] = &leaves[1];
  root[1] = list;
  Tree dict(Kind::Dict, 1);
  dict.key(0) = KeyStr("o");
  dict[0] = leaves + 2;
  root[2] = std::move(dict);
  auto named = std::make_unique<Node>(Kind::NamedTuple, 1);
  named->items[0] = &leaves[3];
  root[3] = std::move(named);
  root[4] = {Kind::Tuple, size_t{1}};
  root[4][0] = &leaves[4];
  const auto [found, spec] = flatten(root);
  EXPECT_EQ(to_str(*spec), "T5#1#1#1#1#1($,L1#1($),D1#1('o':$),N1#1($),T1#1($))");
  EXPECT_TRUE(unflatten<int>(*spec, leaves) == root);
  EXPECT_EQ(*found[3], 10);
}

TEST(PytreeTest, TextAndBack) {
  RecordProperty("req", "EXT-028");
  int leaves[] = {7, 8, 9};
  Tree tree = example(leaves);
  EXPECT_EQ(to_str(*flatten(tree).second), kExample);
  const std::string texts[] = {kExample,      "$",       "L0()",       "T2#1#1($,$)",
                               "D1#1('o':$)", "N1#1($)", "D1#1(-5:$)", "D1#1('a(b':$)"};
  for (const std::string& text : texts) {
    EXPECT_EQ(to_str(from_str(text)), text);
  }
  const Tree built = unflatten<int>(std::string(kExample), leaves);
  EXPECT_TRUE(built == tree);
  EXPECT_TRUE(from_str(std::string("T1#1($)")) != from_str(std::string("L1#1($)")));
  EXPECT_TRUE(from_str(std::string("D1#1('a':$)")) != from_str(std::string("D1#1('b':$)")));
}

TEST(PytreeTest, MalformedTextIsRefused) {
  RecordProperty("req", "EXT-028");
  for (const char* text : {"",
                           "X",
                           "T",
                           "T1",
                           "T1#1",
                           "T1#1(",
                           "T1#1($",
                           "T1#2($)",
                           "T2#1#1($)",
                           "T1#1($,$)",
                           "T1#1($))",
                           "$$",
                           "T1#1($)x",
                           "D1#1($)",
                           "D1#1('a:$)",
                           "D1#1('a'$)",
                           "C(x)1#1($)",
                           "T99999999999999999999()",
                           "T4294967297#1($)",
                           "(",
                           ")",
                           "T1#1#1($)"}) {
    EXPECT_THROW(from_str(std::string(text)), std::runtime_error) << text;
  }
  std::string deep;
  for (int i = 0; i < 9; ++i) {
    deep += "L1#1(";
  }
  EXPECT_THROW(from_str(deep + "$" + std::string(9, ')')), std::runtime_error);
}

TEST(PytreeTest, WrongUseIsRefused) {
  RecordProperty("req", "EXT-028");
  int leaf = 1;
  Tree tree(new Node(&leaf));
  EXPECT_THROW(tree[0], std::out_of_range);
  EXPECT_THROW(arr<int>(2).at(2), std::out_of_range);
  EXPECT_THROW(tree.key(0), std::runtime_error);
  EXPECT_THROW(from_str(std::string("$")).leaf(), std::runtime_error);
  EXPECT_THROW(Tree().size(), std::runtime_error);
  EXPECT_THROW(Key(KeyInt(1)).as_str(), std::runtime_error);
  const Tree dict = unflatten<int>(std::string("D1#1('a':$)"), &leaf);
  EXPECT_THROW(dict.at(KeyStr("b")), std::runtime_error);
  EXPECT_THROW(dict.key(1), std::out_of_range);
}

TEST(PytreeTest, TypesOfAUsersOwnAreWrittenOnly) {
  TreeSpec<Empty> spec(new TreeSpecContainer<Empty>(Kind::Custom, 1));
  spec.handle->custom_type = "Point";
  spec[0] = TreeSpec<Empty>(new TreeSpecContainer<Empty>(static_cast<TreeSpecLeaf*>(nullptr)));
  const std::string text = to_str(spec);
  EXPECT_EQ(text, "C(Point)1#1($)");
  EXPECT_THROW(from_str(text), std::runtime_error);
}

// Leaves are not compared, only where they are.
TEST(PytreeTest, EqualShapes) {
  int leaves[] = {1, 2};
  const Tree one = unflatten<int>(std::string("T2#1#1($,$)"), leaves);
  int others[] = {3, 4};
  EXPECT_TRUE(one == unflatten<int>(std::string("T2#1#1($,$)"), others));
  EXPECT_FALSE(one == unflatten<int>(std::string("L2#1#1($,$)"), others));
}

TEST(PytreeTest, LeavesMayBeChanged) {
  int leaves[] = {1, 2};
  Tree tree = unflatten<int>(std::string("L2#1#1($,$)"), leaves);
  tree[1].set_leaf(&leaves[0]);
  tree[1].leaf() = 5;
  EXPECT_EQ(leaves[0], 5);
  size_t nodes = 0;
  traverse<int, Empty>(tree, [&nodes](Tree&) { ++nodes; });
  EXPECT_EQ(nodes, 3u);
}
