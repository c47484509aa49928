// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The ELF loader: copy the segments into one anonymous mapping, apply relocations, set the pages' rights.

#include "ElfImage.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tilejit::cpu {

namespace {

// Relocation numbers of this machine: base + addend, and three spellings of symbol + addend.
#if defined(__x86_64__)
constexpr uint16_t hostMachine = EM_X86_64;
constexpr uint32_t relocRelative = R_X86_64_RELATIVE;
constexpr uint32_t relocSymbol[] = {R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT};
#elif defined(__aarch64__)
constexpr uint16_t hostMachine = EM_AARCH64;
constexpr uint32_t relocRelative = R_AARCH64_RELATIVE;
constexpr uint32_t relocSymbol[] = {R_AARCH64_ABS64, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT};
#elif defined(__riscv)
constexpr uint16_t hostMachine = EM_RISCV;
constexpr uint32_t relocRelative = R_RISCV_RELATIVE;
constexpr uint32_t relocSymbol[] = {R_RISCV_64, R_RISCV_JUMP_SLOT, R_RISCV_64};
#else
#error "the CPU device does not know this architecture's relocations"
#endif

constexpr uint64_t maxImageBytes = uint64_t{1} << 30;
constexpr uint16_t maxSegments = 32;

Status refuse(std::string reason) { return Status(StatusCode::DeviceFailed, "the CPU payload " + std::move(reason)); }

bool fits(uint64_t offset, uint64_t bytes, uint64_t limit) { return offset <= limit && bytes <= limit - offset; }

/// A table in the loaded image, as two dynamic entries describe it.
struct Table {
  uint64_t address = 0, bytes = 0, itemBytes = 0;
};

} // namespace

/// One load. Steps run in the order of load(); each leaves its findings in the members.
class ElfLoader {
public:
  explicit ElfLoader(std::string_view bytes)
      : bytes_(bytes), pageBytes_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) {}

  Expected<ElfImage> load() {
    TILEJIT_RETURN_IF_ERROR(readHeaders());
    TILEJIT_RETURN_IF_ERROR(checkSegments());
    TILEJIT_RETURN_IF_ERROR(copySegments());
    TILEJIT_RETURN_IF_ERROR(readDynamic());
    TILEJIT_RETURN_IF_ERROR(countSymbols());
    TILEJIT_RETURN_IF_ERROR(relocate(relocations_));
    TILEJIT_RETURN_IF_ERROR(relocate(pltRelocations_));
    TILEJIT_RETURN_IF_ERROR(relocateRelative());
    TILEJIT_RETURN_IF_ERROR(protect());
    return std::move(image_);
  }

private:
  Status readHeaders() {
    Elf64_Ehdr header;
    if (bytes_.size() < sizeof header)
      return refuse("is shorter than an ELF header");
    std::memcpy(&header, bytes_.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB)
      return refuse("is no little-endian ELF64 file");
    if (header.e_type != ET_DYN)
      return refuse("is no shared object");
    if (header.e_machine != hostMachine)
      return refuse("is for ELF machine " + std::to_string(header.e_machine) + ", this one is " +
                    std::to_string(hostMachine));
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 || header.e_phnum > maxSegments ||
        !fits(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), bytes_.size()))
      return refuse("has no valid program headers");
    segments_.resize(header.e_phnum);
    std::memcpy(segments_.data(), bytes_.data() + header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
    return Status::ok();
  }

  Status checkSegments() {
    for (const Elf64_Phdr &segment : segments_) {
      if (segment.p_type == PT_TLS || segment.p_type == PT_INTERP)
        return refuse("wants an interpreter or thread-local memory");
      if (segment.p_type == PT_GNU_STACK && (segment.p_flags & PF_X))
        return refuse("wants an executable stack");
      if (segment.p_type == PT_DYNAMIC)
        dynamic_ = Table{segment.p_vaddr, segment.p_memsz, sizeof(Elf64_Dyn)};
      if (segment.p_type != PT_LOAD)
        continue;
      if (segment.p_filesz > segment.p_memsz || !fits(segment.p_offset, segment.p_filesz, bytes_.size()) ||
          !fits(segment.p_vaddr, segment.p_memsz, maxImageBytes))
        return refuse("has a segment outside its bytes");
      if ((segment.p_flags & PF_W) && (segment.p_flags & PF_X))
        return refuse("has a segment that is writable and executable");
      imageBytes_ = std::max(imageBytes_, segment.p_vaddr + segment.p_memsz);
    }
    if (imageBytes_ == 0 || !dynamic_)
      return refuse("has nothing to load");
    return Status::ok();
  }

  Status copySegments() {
    imageBytes_ = (imageBytes_ + pageBytes_ - 1) / pageBytes_ * pageBytes_;
    void *memory = mmap(nullptr, imageBytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return Status(StatusCode::OutOfMemory, "no memory for " + std::to_string(imageBytes_) + " bytes of code");
    image_.base_ = static_cast<char *>(memory);
    image_.size_ = imageBytes_;
    rights_.assign(imageBytes_ / pageBytes_, PROT_NONE);
    for (const Elf64_Phdr &segment : segments_) {
      if (segment.p_type != PT_LOAD || segment.p_memsz == 0)
        continue;
      std::memcpy(image_.base_ + segment.p_vaddr, bytes_.data() + segment.p_offset, segment.p_filesz);
      int rights = ((segment.p_flags & PF_R) ? PROT_READ : 0) | ((segment.p_flags & PF_W) ? PROT_WRITE : 0) |
                   ((segment.p_flags & PF_X) ? PROT_EXEC : 0);
      for (uint64_t page = segment.p_vaddr / pageBytes_; page <= (segment.p_vaddr + segment.p_memsz - 1) / pageBytes_;
           ++page)
        rights_[page] |= rights;
      if (!(segment.p_flags & PF_X))
        continue;
      if (image_.codeEnd_ != 0)
        return refuse("has more than one executable segment");
      image_.codeBegin_ = segment.p_vaddr;
      image_.codeEnd_ = segment.p_vaddr + segment.p_memsz;
    }
    for (int rights : rights_)
      if ((rights & PROT_WRITE) && (rights & PROT_EXEC))
        return refuse("has a page that is writable and executable");
    return Status::ok();
  }

  Status readDynamic() {
    Table strings, symbols;
    for (uint64_t offset = 0;; offset += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      if (offset + sizeof entry > dynamic_->bytes || !read(dynamic_->address + offset, entry))
        return refuse("has a dynamic section without an end");
      if (entry.d_tag == DT_NULL)
        break;
      uint64_t value = entry.d_un.d_val;
      switch (entry.d_tag) {
      case DT_STRTAB:
        strings.address = value;
        break;
      case DT_STRSZ:
        strings.bytes = value;
        break;
      case DT_SYMTAB:
        symbols.address = value;
        break;
      case DT_SYMENT:
        symbols.itemBytes = value;
        break;
      case DT_HASH:
        hash_ = value;
        break;
      case DT_GNU_HASH:
        gnuHash_ = value;
        break;
      case DT_RELA:
        relocations_.address = value;
        break;
      case DT_RELASZ:
        relocations_.bytes = value;
        break;
      case DT_JMPREL:
        pltRelocations_.address = value;
        break;
      case DT_PLTRELSZ:
        pltRelocations_.bytes = value;
        break;
      case DT_RELR:
        relative_.address = value;
        break;
      case DT_RELRSZ:
        relative_.bytes = value;
        break;
      case DT_NEEDED:
        return refuse("depends on another library");
      case DT_TEXTREL:
        return refuse("wants its code relocated");
      case DT_REL:
      case DT_INIT:
      case DT_FINI:
      case DT_INIT_ARRAY:
      case DT_FINI_ARRAY:
      case DT_PREINIT_ARRAY:
        return refuse("has a dynamic entry that kernels don't have (" + std::to_string(entry.d_tag) + ")");
      default:
        break;
      }
    }
    if (strings.bytes == 0 || !fits(strings.address, strings.bytes, imageBytes_) ||
        symbols.itemBytes != sizeof(Elf64_Sym) || symbols.address >= imageBytes_)
      return refuse("has no valid symbol table");
    image_.strings_ = strings.address;
    image_.stringBytes_ = strings.bytes;
    image_.symbols_ = symbols.address;
    return Status::ok();
  }

  /// The number of symbols stands in neither table of its own; both kinds of hash table imply it.
  Status countSymbols() {
    std::optional<uint64_t> count = hash_ ? countFromHash() : gnuHash_ ? countFromGnuHash() : std::nullopt;
    if (!count || *count > imageBytes_ / sizeof(Elf64_Sym) ||
        !fits(image_.symbols_, *count * sizeof(Elf64_Sym), imageBytes_))
      return refuse("has no valid hash table of symbols");
    image_.symbolCount_ = *count;
    return Status::ok();
  }

  std::optional<uint64_t> countFromHash() const {
    uint32_t head[2];
    if (!read(*hash_, head))
      return std::nullopt;
    return head[1];
  }

  std::optional<uint64_t> countFromGnuHash() const {
    uint32_t head[4]; // buckets, first hashed symbol, words of the filter, shift
    if (!read(*gnuHash_, head))
      return std::nullopt;
    uint64_t buckets = *gnuHash_ + sizeof head + uint64_t{head[2]} * 8, chains = buckets + uint64_t{head[0]} * 4;
    if (head[0] > imageBytes_ || head[2] > imageBytes_)
      return std::nullopt;
    uint32_t last = 0, value = 0;
    for (uint32_t i = 0; i < head[0]; ++i) {
      if (!read(buckets + uint64_t{i} * 4, value))
        return std::nullopt;
      last = std::max(last, value);
    }
    if (last < head[1])
      return head[1];
    do {
      if (!read(chains + uint64_t{last - head[1]} * 4, value))
        return std::nullopt;
      ++last;
    } while (!(value & 1));
    return last;
  }

  Status relocate(const Table &table) {
    for (uint64_t offset = 0; offset + sizeof(Elf64_Rela) <= table.bytes; offset += sizeof(Elf64_Rela)) {
      Elf64_Rela entry;
      if (!read(table.address + offset, entry))
        return refuse("has relocations outside its bytes");
      uint32_t kind = ELF64_R_TYPE(entry.r_info);
      uint64_t value = 0;
      if (kind != relocRelative) {
        if (std::find(std::begin(relocSymbol), std::end(relocSymbol), kind) == std::end(relocSymbol))
          return refuse("has a relocation of kind " + std::to_string(kind));
        Elf64_Sym symbol;
        uint64_t index = ELF64_R_SYM(entry.r_info);
        if (index >= image_.symbolCount_ || !read(image_.symbols_ + index * sizeof symbol, symbol) ||
            symbol.st_shndx == SHN_UNDEF)
          return refuse("needs a symbol that it does not define");
        value = symbol.st_value;
      }
      value += static_cast<uint64_t>(entry.r_addend);
      if (value > imageBytes_)
        return refuse("has a relocation that points outside");
      TILEJIT_RETURN_IF_ERROR(store(entry.r_offset, reinterpret_cast<uint64_t>(image_.base_) + value));
    }
    return Status::ok();
  }

  /// DT_RELR: an address, then bitmaps of which of the next 63 words are relative too.
  Status relocateRelative() {
    uint64_t next = 0;
    for (uint64_t offset = 0; offset + 8 <= relative_.bytes; offset += 8) {
      uint64_t entry;
      if (!read(relative_.address + offset, entry))
        return refuse("has relocations outside its bytes");
      if (!(entry & 1)) {
        TILEJIT_RETURN_IF_ERROR(rebase(entry));
        next = entry + 8;
        continue;
      }
      for (int bit = 1; bit < 64; ++bit)
        if (entry >> bit & 1)
          TILEJIT_RETURN_IF_ERROR(rebase(next + static_cast<uint64_t>(bit - 1) * 8));
      next += 63 * 8;
    }
    return Status::ok();
  }

  Status rebase(uint64_t address) {
    uint64_t value;
    if (!read(address, value) || value > imageBytes_)
      return refuse("has a relocation that points outside");
    return store(address, reinterpret_cast<uint64_t>(image_.base_) + value);
  }

  Status store(uint64_t address, uint64_t value) {
    if (!fits(address, sizeof value, imageBytes_))
      return refuse("has a relocation outside its bytes");
    if (!(rights_[address / pageBytes_] & PROT_WRITE) || !(rights_[(address + 7) / pageBytes_] & PROT_WRITE))
      return refuse("has a relocation in memory that is not writable");
    std::memcpy(image_.base_ + address, &value, sizeof value);
    return Status::ok();
  }

  Status protect() {
    if (image_.codeEnd_ == 0)
      return refuse("has no code");
    if (!staysReadable(image_.symbols_, image_.symbolCount_ * sizeof(Elf64_Sym)) ||
        !staysReadable(image_.strings_, image_.stringBytes_))
      return refuse("has a symbol table that can't be read");
    for (size_t first = 0, page = 0; page <= rights_.size(); ++page) {
      if (page != rights_.size() && rights_[page] == rights_[first])
        continue;
      if (mprotect(image_.base_ + first * pageBytes_, (page - first) * pageBytes_, rights_[first]) != 0)
        return refuse("can't be made executable: the system forbids it");
      first = page;
    }
    char *code = image_.base_ + image_.codeBegin_;
    __builtin___clear_cache(code, image_.base_ + image_.codeEnd_);
    return Status::ok();
  }

  bool staysReadable(uint64_t address, uint64_t bytes) const {
    for (uint64_t page = address / pageBytes_; bytes != 0 && page <= (address + bytes - 1) / pageBytes_; ++page)
      if (!(rights_[page] & PROT_READ))
        return false;
    return true;
  }

  template <typename T> bool read(uint64_t address, T &out) const {
    if (!fits(address, sizeof out, imageBytes_))
      return false;
    std::memcpy(&out, image_.base_ + address, sizeof out);
    return true;
  }

  std::string_view bytes_;
  uint64_t pageBytes_;
  std::vector<Elf64_Phdr> segments_;
  uint64_t imageBytes_ = 0;
  std::optional<Table> dynamic_;
  std::vector<int> rights_; ///< Of each page.
  std::optional<uint64_t> hash_, gnuHash_;
  Table relocations_, pltRelocations_, relative_;
  ElfImage image_;
};

ElfImage::ElfImage(ElfImage &&other) noexcept { *this = std::move(other); }

ElfImage &ElfImage::operator=(ElfImage &&other) noexcept {
  std::swap(base_, other.base_);
  std::swap(size_, other.size_);
  std::swap(symbols_, other.symbols_);
  std::swap(symbolCount_, other.symbolCount_);
  std::swap(strings_, other.strings_);
  std::swap(stringBytes_, other.stringBytes_);
  std::swap(codeBegin_, other.codeBegin_);
  std::swap(codeEnd_, other.codeEnd_);
  return *this;
}

ElfImage::~ElfImage() {
  if (base_)
    munmap(base_, size_);
}

Expected<ElfImage> ElfImage::load(std::string_view bytes) { return ElfLoader(bytes).load(); }

void *ElfImage::function(std::string_view name) const {
  for (size_t index = 0; index < symbolCount_; ++index) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, base_ + symbols_ + index * sizeof symbol, sizeof symbol);
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value < codeBegin_ ||
        symbol.st_value >= codeEnd_)
      continue;
    // The terminating zero has to be inside the table too.
    if (symbol.st_name >= stringBytes_ || stringBytes_ - symbol.st_name <= name.size())
      continue;
    const char *found = base_ + strings_ + symbol.st_name;
    if (std::memcmp(found, name.data(), name.size()) == 0 && found[name.size()] == '\0')
      return base_ + symbol.st_value;
  }
  return nullptr;
}

} // namespace tilejit::cpu
