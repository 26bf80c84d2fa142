// drx/plan/machine.hpp: the machine that plans and loops are laid out for: sizes that more than one pass or kernel uses,
// and the limits of plans.
// They suit the x86 servers on which drx was measured; other machines compute the same, perhaps slower.
// Tested by tests/unit/run/gemm.cpp and tests/unit/run/short_rows.cpp.
#pragma once

#include <cstdint>

namespace drx::machine {

// ---- registers ----

/// Numbers in the widest vector register: 16 floats. Rows of whole vectors are whole vectors in narrower registers too.
inline constexpr int widest_vector = 16;

// ---- memory ----

/// Bytes of a cache line, to which arrays are aligned.
inline constexpr std::int64_t cache_line = 64;
/// Bytes that the second cache of a core holds: a larger matrix that is read again and again is copied in parts.
inline constexpr std::int64_t second_cache = 1 << 20;
/// Bytes from which on data is read from memory and not from a cache, so that it is worth fetching ahead.
inline constexpr std::int64_t read_from_memory = 1 << 22;
/// Bytes of a huge page.
inline constexpr std::int64_t huge_page = 1 << 21;

// ---- limits of plans; where no measurement is named, the limit is a choice ----

/// Entries of a fused loop. Compilers take more than twice as long for a loop twice as long.
inline constexpr int longest_loop = 64;
/// Entries that move together to the one loop that reads them. Moving short chains saves a FedAvg client 16 of 110 KiB.
inline constexpr int most_moved = 8;
/// Bytes from which on a loop waits until its result can lie where it reads; smaller results hardly enlarge a
/// workspace.
inline constexpr std::int64_t least_waited_for = 4096;
/// Elements of a row of a rearrangement from which on fused loops read it where it lies: half of the widest vector.
inline constexpr std::int64_t least_rearranged_row = widest_vector / 2;
/// Arrays along which a fused loop goes that reads rearrangements: each needs an address in a register.
inline constexpr int most_arrays = 8;
/// Numbers of a row from which on a fused loop goes row by row, whatever its length. (A loop with exp over 32 rows of
/// ten columns took 0.58 us row by row and 0.15 us as one loop.)
inline constexpr std::int64_t long_row = 64;
/// Pieces of a rearrangement, with those of the rearrangements that it reads: the code that reads it has a part for
/// each.
inline constexpr int most_pieces = 16;
/// Rows of a loop that also adds them up: from one band of rows, whose sums stay in registers, to 32 parts of 128 rows
/// (run/fused/sums.hpp).
inline constexpr std::int64_t least_summed_rows = 8, most_summed_rows = 4096;
/// Numbers that a loop folds over an axis, each in one chain, as the kernel of a sum does (run/kernels/folds.hpp), up
/// to this distance of neighbours, which that kernel has in registers; and where they are farther from each other.
inline constexpr std::int64_t most_folded = 128, most_folded_columns = 256, most_folded_far = 16;
/// Multiplications of a product in register tiles over whole operands; larger ones are computed in packed blocks.
inline constexpr std::int64_t most_tiled_multiplications = std::int64_t{256} * 256 * 256;
/// The packed blocks of a larger product: rows of A, columns of B, and terms of each sum. A block of A takes 168 KiB of
/// the second cache for floats, 336 for doubles; the terms of a sum are a chain as long as others (longest_chain). The
/// rows are a multiple of a register tile's rows on each target, 14, 6 or 4.
inline constexpr std::int64_t product_rows = 168, product_columns = 2048, product_depth = 256;
/// Terms of a sum whose parts are added up in order, 128 of them; the sums of longer ones go to a second matrix, and
/// from there to the result. With 512 parts a sum of equal floats was off by 71 roundings, with 128 by 26, with one by
/// 20.
inline constexpr std::int64_t product_chain = 128 * product_depth;
/// Terms up to which a sum is computed in blocks: as many chains as each has parts. Longer ones are added up in parts
/// of parts, in register tiles.
inline constexpr std::int64_t longest_blocked_sum = 128 * product_chain;
/// Multiplications of a thread's part of a large product: some 50 microseconds.
inline constexpr std::int64_t least_dealt_multiplications = 1 << 21;
/// Terms of the sums of an unplaced product from which on ranks divide its rows and gather them; rows, and
/// multiplications, of each rank's part. (Two ranks of one thread gained a quarter of the time at 128 terms, and
/// nothing that showed at 64. More threads compute faster, and a network sends more slowly.)
inline constexpr std::int64_t least_divided_terms = 256, least_divided_rows = 2 * widest_vector,
                              least_divided_multiplications = 1 << 23;
/// Numbers of an elementwise loop from which on it is dealt out to threads, in pieces of the second size: some 20
/// microseconds where it is plain arithmetic.
inline constexpr std::int64_t least_dealt_numbers = 1 << 16, dealt_piece = 1 << 12;
/// Bytes from which on a stage or a product writes a result of the program where the caller wants it. bench/allreduce
/// shows what that spares results over ranks.
inline constexpr std::int64_t large_output = 1 << 16;
/// Rows of a matrix with few columns that lies transposed in a loop: two of the widest vectors.
inline constexpr std::int64_t least_transposed_rows = 2 * widest_vector;

// ---- stages ----

/// The cost of writing down a member's number for later stages, and of reading it there, in elementwise operations.
inline constexpr std::int64_t operations_of_kept_number = 16;
/// Steps of a loop from which on what they have in common may be kept for it, and the operations of a long function, of
/// which an exponential has some twenty, and of reading a number at a position, beside the one that all count as.
inline constexpr std::int64_t least_steps_of_kept = 3, of_long_function = 15, of_number_at_position = 4;
/// Operations that are the same for all members, and the part of a member's operations that they are, from which on
/// they are computed in front of a stage.
inline constexpr std::int64_t least_shared_work = 64, shared_part_of_work = 8;
/// And operations from which on a number is stacked rather than computed by each member.
inline constexpr std::int64_t work_of_stacked = 4;

// ---- blocks of members ----

/// Numbers of a share, up to which members go in blocks.
inline constexpr std::int64_t short_share = 1024;
/// Members of a placement at the top of a program from which on they go in blocks of 128, of 32, of 16, and of 8. With
/// fewer, blocks would give some ranks and threads more members than others; these are a block for each of 128, and of
/// eight.
inline constexpr std::int64_t least_members_in_large_blocks = 1 << 14, least_members_in_blocks = 256,
                              least_members_in_blocks_of_16 = 128, least_members_in_small_blocks = 64;
/// Bytes of a large block's largest value, and of its shares: half of a first cache.
inline constexpr std::int64_t value_of_large_block = 1 << 14;
/// Numbers of a matrix whose rows leave vector registers idle, so that several members multiply by theirs at once. The
/// two matrices of one product have up to twice as many.
inline constexpr std::int64_t small_matrix = 64;
/// Rows of a member's matrix up to which several members' lie one below the other in one product.
inline constexpr std::int64_t few_rows = 8;
/// Arrays of so many numbers fall apart into numbers in the loops of members in lanes, unless the body then has so many
/// times the entries.
inline constexpr std::int64_t few_numbers = 9;
inline constexpr int growth_by_numbers = 2;
/// Bytes from which on a member that is read for a dot product and again for a sum goes in a smaller block, which the
/// first cache still holds the second time.
inline constexpr std::int64_t long_member = 256;
/// Bytes that the first cache of a core holds.
inline constexpr std::int64_t first_cache = 1 << 15;
/// Numbers of a row, of which there are several, up to which members go in lanes: one of the widest vectors.
inline constexpr std::int64_t short_row = widest_vector;
/// Bytes of a value of a block in lanes, of which several are to stay in the second cache.
inline constexpr std::int64_t value_of_lanes = second_cache / 4;
/// Bytes that the loops of a block may keep of their steps, which are to stay in the second cache.
inline constexpr std::int64_t kept_by_block = second_cache / 2;
/// Entries of a body with loops from which on it has one block only, since each body is compiled.
inline constexpr int long_body = 100;
/// Members of a group.
inline constexpr std::int64_t group = 8;
/// Bytes of a member's results up to which it goes in a group.
inline constexpr std::int64_t results_of_group = 1 << 11;
/// The cost of a group, in members that are computed alone, up to which there are groups. It is counted in operations,
/// where up to as many numbers of a row count as one. (Alone, a member has loops over short rows besides.)
/// Beside small blocks, which leave few members alone, a group must cost less.
inline constexpr std::int64_t cost_of_group = 4, cost_of_group_beside_blocks = 3;

// ---- short axes ----

/// The longest last axis that changes places with the one before it: shorter than the lanes of the smaller blocks of
/// members, which are a last axis too.
inline constexpr std::int64_t short_coordinates = 7;
/// The cost of transposing an element, in elements that a sum or a fused loop over short rows shuffles.
inline constexpr std::int64_t of_transposed = 4;

// ---- rows in chunks ----

/// Bytes of a value that is computed some rows at a time, and of all such values that are spared.
inline constexpr std::int64_t least_chunked = second_cache / 4;
/// Numbers of a step's rows of the largest value, and steps, from which on a loop over rows costs less than it spares.
inline constexpr std::int64_t least_chunk = 256, least_chunks = 4;
/// Steps that add up to a sum: a chain as long as those of the kernels of sums.
inline constexpr std::int64_t most_chunks = 128;

// ---- recomputed values ----

/// Bytes of a value from which on it may be computed again rather than stored, half of a first cache, and the part of
/// its numbers that is read for that at most.
inline constexpr std::int64_t least_recomputed = 1 << 14, part_read_again = 8;

// ---- carried products ----

/// The cost of scaling rows, in multiplications inside tiled products: for each element, each row, each number of a
/// change. By these numbers small steps stay as they are written, where they take 686 thousand instructions; carried
/// and scaled they took 847 thousand.
inline constexpr std::int64_t of_scaled_element = 8, of_scale = 64, of_scaled_result = 4;

}  // namespace drx::machine
