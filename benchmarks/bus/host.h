// The commands of the host: what it sends, what must come of it by the rules of docs/host-bus.md, and what it has seen.

// What a command makes of its packets: its error bits, the units that count, and the beats that it takes.
struct Verdict { uint32_t errors = 0; int units = 0; size_t beats = 0; bool ended = false; };

// Plays packets container by container. `size` is that of a unit.
static Verdict judge(const std::vector<Beat> &beats, int count, int size) {
    Verdict made;
    int64_t taken = 0, need = int64_t(count) * size;
    while (made.beats < beats.size()) {
        const Beat &beat = beats[made.beats++];
        int64_t wanted = std::min<int64_t>(PLACES, need - taken), here = 0;
        uint32_t errors = 0;
        for (int k = 0; k < wanted; ++k) {
            int kept = 0, behind = 0;
            uint32_t bits = 0;
            for (int n = 0; n < CONTAINER_BYTES; ++n) {
                kept += beat.keep[k * CONTAINER_BYTES + n];
                bits |= uint32_t(beat.data[k * CONTAINER_BYTES + n]) << 8 * n;
            }
            for (int n = k * CONTAINER_BYTES; n < wanted * CONTAINER_BYTES; ++n) behind += beat.keep[n];
            int64_t word = int64_t(uint64_t(bits) << (64 - 8 * CONTAINER_BYTES)) >> (64 - 8 * CONTAINER_BYTES);
            if (kept && (word < -(int64_t(1) << (WIDTH - 1)) || word >= int64_t(1) << (WIDTH - 1))) errors |= RANGE;
            if (kept == CONTAINER_BYTES) here += here == k;
            else if (kept || behind || !beat.last || !k) errors |= KEEP;
        }
        bool whole = taken + here == need;
        if (!(errors & KEEP) && beat.last && !whole && (taken + here) % size) errors |= SHORT;
        if (!beat.last && taken + PLACES >= need) errors |= LONG;
        made.errors = errors;
        if (!(errors & (KEEP | RANGE | SHORT))) taken += here;
        made.ended = errors || taken == need;
        if (made.ended) break;
    }
    made.units = int(taken / size);
    while (made.ended && made.beats < beats.size() && !beats[made.beats - 1].last) ++made.beats;
    return made;
}

static std::vector<Beat> packed(const Words &words) {
    std::vector<Beat> beats;
    for (size_t at = 0; at < words.size(); at += PLACES) {
        Beat beat{Bytes(BUS_BYTES), Bytes(BUS_BYTES), at + PLACES >= words.size()};
        for (size_t k = 0; k < size_t(PLACES) && at + k < words.size(); ++k)
            for (int n = 0; n < CONTAINER_BYTES; ++n) {
                beat.data[k * CONTAINER_BYTES + n] = uint8_t(uint64_t(words[at + k]) >> 8 * n);
                beat.keep[k * CONTAINER_BYTES + n] = 1;
            }
        beats.push_back(beat);
    }
    return beats;
}

struct Kind { std::string name; bool placed, load; };
static const std::vector<Kind> KINDS = {
    {"SHORT", true, false}, {"LONG", true, false}, {"KEEP, a hole", true, false}, {"KEEP, part of a container", true, false},
    {"KEEP, absent before the last beat", true, false}, {"KEEP, an empty beat", false, false}, {"RANGE", true, false},
    {"several faults", false, false}, {"SHORT", true, true}, {"LONG", true, true}, {"KEEP, a hole", true, true},
    {"KEEP, part of a container", true, true}, {"KEEP, absent before the last beat", true, true},
    {"KEEP, an empty beat", false, true}, {"RANGE", true, true}, {"several faults", false, true},
    {"ABORT", false, false}, {"ABORT", false, true}, {"RESET", false, false}, {"RESET", false, true},
    {"aresetn", false, false}, {"aresetn", false, true}, {"COMMAND while BUSY", false, false},
    {"access against the table", false, false}, {"COUNT_ZERO", false, false}, {"NOT_LOADED", false, false},
};
struct Seen { std::map<int, int> places; int times = 0, rest = 0, longest = 0; };

struct Host : Ports {
    const Case &given;
    int size, units;
    std::vector<Seen> seen;
    int clean = 0, commands = 0;
    uint64_t started;

    Host(const Case &words, uint64_t seed) : given(words), seen(KINDS.size()), started(seed) {
        chance.state = seed * 0x9E3779B97F4A7C15u + 1;
        size = int(given.units[0].size());
        units = int(given.units.size());
        reset = true;
        tick();
        reset = false;
        rest();
        gaps_in = gaps_out = 0;
        clean = whole();
    }
    uint32_t at(const char *name) const { return given.registers.at(name); }
    uint32_t get(const char *name) {
        if (read(at(name))) wrong(cycle, std::string(name) + " cannot be read");
        return word;
    }
    void set(const char *name, uint32_t value) {
        if (write(at(name), value)) wrong(cycle, std::string(name) + " cannot be written");
    }
    int rest() {
        uint64_t before = cycle;
        while (get("STATUS") & BUSY)
            if (cycle - before > 100000) wrong(cycle, "BUSY does not end");
        return int(cycle - before);
    }
    void begin(uint32_t code) {
        set("STATUS", ~0u);
        set("COMMAND", code);
        ++commands;
    }
    void end(uint32_t errors, const std::string &what) {
        rest();
        uint32_t status = get("STATUS");
        if (!(status & DONE) || (status & ERRORS) != errors) {
            char text[200];
            std::snprintf(text, sizeof text, "%s: STATUS %08x, errors %08x wanted", what.c_str(), status, errors);
            wrong(cycle, text);
        }
    }
    Words received() {
        if (packets.empty()) wrong(cycle, "no packet came");
        Words words;
        for (size_t at = 0; at < packets.front().size(); at += CONTAINER_BYTES) {
            uint32_t bits = 0;
            for (int n = 0; n < CONTAINER_BYTES; ++n) bits |= uint32_t(packets.front()[at + n]) << 8 * n;
            words.push_back(int64_t(uint64_t(bits) << (64 - 8 * CONTAINER_BYTES)) >> (64 - 8 * CONTAINER_BYTES));
        }
        packets.pop_front();
        return words;
    }
    Words flat(int first, int count) const {
        Words words;
        for (int unit = first; unit < first + count; ++unit)
            words.insert(words.end(), given.units[unit].begin(), given.units[unit].end());
        return words;
    }
    void results(int count, int result_units) {
        if (int(get("SAMPLES")) != count) wrong(cycle, "SAMPLES " + std::to_string(word) + " for " + std::to_string(count));
        size_t each = given.results[0].size();
        if (!each) { if (!packets.empty()) wrong(cycle, "a packet without results"); return; }
        if (!count) {
            for (int64_t word : received()) if (word) wrong(cycle, "a RUN without units gives a result");
        }
        for (int unit = 0; unit < count;) {
            int here = std::min(result_units ? result_units : count, count - unit);
            Words words = received(), wanted;
            for (int n = 0; n < here; ++n, ++unit)
                wanted.insert(wanted.end(), given.results[unit].begin(), given.results[unit].end());
            if (words != wanted) wrong(cycle, "results that are not those of the evaluation");
        }
        if (!packets.empty()) wrong(cycle, "a packet too many");
    }
    void dump(int trained) {
        begin(COMMAND_DUMP);
        end(0, "DUMP");
        Words words = received();
        if (given.dump_words && int64_t(words.size()) != given.dump_words) wrong(cycle, "a dump of another length");
        for (auto &place : given.dumps[trained])
            if (words[place.first] != place.second)
                wrong(cycle, "a model is not that of the evaluation after " + std::to_string(trained) + " units");
        if (!packets.empty()) wrong(cycle, "a packet too many");
    }
    void load() {
        begin(COMMAND_LOAD);
        send(packed(given.load));
        end(0, "LOAD");
        if (!(get("STATUS") & LOADED) || !queue.empty()) wrong(cycle, "LOAD does not take its unit");
    }
    int whole() {
        uint64_t before = cycle;
        load();
        int count = std::min(2, units);
        set("COUNT", uint32_t(count));
        set("RESULT_UNITS", 0);
        begin(COMMAND_RUN);
        send(packed(flat(0, count)));
        end(0, "RUN");
        results(count, 0);
        dump(count);
        return int(cycle - before);
    }
    // LOAD, RUN and DUMP after a fault, without a reset, at full rate.
    void recover(int kind, int place, int waited) {
        forget();
        packets.clear();
        if (!packet.empty()) wrong(cycle, "the packet of m_axis stays open");
        gaps_in = gaps_out = 0;
        int cycles = whole();
        if (cycles > clean + 100) wrong(cycle, std::string("recovering takes ") + std::to_string(cycles) + " cycles");
        Seen &here = seen[kind];
        ++here.times;
        ++here.places[place];
        here.rest = std::max(here.rest, waited);
        here.longest = std::max(here.longest, cycles);
    }

    bool spoil(std::vector<Beat> &beats, const std::string &name, int place, size_t wanted) {
        auto keep = [&](Beat &beat, int container, int from, int to, int bit) {
            for (int n = from; n < to; ++n) beat.keep[container * CONTAINER_BYTES + n] = uint8_t(bit);
        };
        auto there = [&](const Beat &beat, int container) { return beat.keep[container * CONTAINER_BYTES]; };
        Beat &beat = beats[size_t(chance.below(int(beats.size())))];
        if (name == "SHORT") {
            size_t last = size_t(place) + size_t(PLACES) * size_t(chance.below(int(beats.size())));
            if (last + 1 >= wanted) return false;
            beats.resize(last / PLACES + 1);
            beats.back().last = true;
            for (int k = place + 1; k < PLACES; ++k) keep(beats.back(), k, 0, CONTAINER_BYTES, 0);
        } else if (name == "LONG") {
            beats.back().last = false;
            for (int k = 0; k < PLACES; ++k) keep(beats.back(), k, 0, CONTAINER_BYTES, 1);
            for (int more = chance.below(3); more >= 0; --more) {
                beats.push_back({Bytes(BUS_BYTES), Bytes(BUS_BYTES, 1), more == 0});
                for (auto &byte : beats.back().data) byte = uint8_t(chance.next());
            }
            for (int k = place + 1; k < PLACES; ++k) keep(beats.back(), k, 0, CONTAINER_BYTES, 0);
        } else if (name == "KEEP, a hole") {
            if (place + 1 >= PLACES ? beat.last : !there(beat, place + 1)) return false;
            keep(beat, place, 0, CONTAINER_BYTES, 0);
        } else if (name == "KEEP, part of a container") {
            if (CONTAINER_BYTES == 1 || !there(beat, place)) return false;
            int byte = chance.below(CONTAINER_BYTES);
            keep(beat, place, byte, byte + 1, 0);
        } else if (name == "KEEP, absent before the last beat") {
            if (beat.last || !place) return false;
            for (int k = place; k < PLACES; ++k) keep(beat, k, 0, CONTAINER_BYTES, 0);
        } else if (name == "KEEP, an empty beat") {
            for (int k = 0; k < PLACES; ++k) keep(beat, k, 0, CONTAINER_BYTES, 0);
        } else if (name == "RANGE") {
            if (WIDTH == 8 * CONTAINER_BYTES || !there(beat, place)) return false;
            beat.data[place * CONTAINER_BYTES + CONTAINER_BYTES - 1] ^= 0x80;
        } else {
            // LONG comes first: behind a packet that was cut, its words would stand where those of units belong.
            static const char *all[] = {"SHORT", "KEEP, a hole", "KEEP, part of a container", "KEEP, an empty beat", "RANGE"};
            if (chance.percent(50)) spoil(beats, "LONG", chance.below(PLACES), wanted);
            for (int n = 1 + chance.below(3); n--;) spoil(beats, all[chance.below(5)], chance.below(PLACES), wanted);
        }
        return true;
    }
    // Packets of `count` units, of which one is spoilt, up to the end of what the command takes.
    std::vector<Beat> spoilt(int kind, int place, int count, Verdict &verdict) {
        bool load = KINDS[kind].load;
        int each = load ? int(given.load.size()) : size;
        std::vector<Beat> sent;
        bool done = false;
        for (int unit = 0; unit < count;) {
            int here = load || chance.percent(60) ? count - unit : 1 + chance.below(count - unit);
            Words words = load ? given.load : flat(unit, here);
            std::vector<Beat> beats = packed(words);
            unit += here;
            bool last = unit == count;
            // Too much in an earlier packet would be words of the next unit.
            bool longer = KINDS[kind].name == "LONG" || KINDS[kind].name == "several faults";
            if (!done && (last || (!longer && chance.percent(40))))
                done = spoil(beats, KINDS[kind].name, place, words.size());
            sent.insert(sent.end(), beats.begin(), beats.end());
        }
        verdict = judge(sent, count, each);
        if (!done || !verdict.errors) return {};
        sent.resize(verdict.beats);
        return sent;
    }
    bool stream_fault(int kind, int place) {
        bool load = KINDS[kind].load;
        if (load && given.load.empty()) return false;
        std::vector<Beat> sent;
        Verdict verdict;
        int count = 1;
        for (int attempt = 0; sent.empty(); ++attempt) {
            if (attempt == 200) return false;
            count = load ? 1 : 1 + chance.below(attempt < 100 ? std::min(8, units) : units);
            sent = spoilt(kind, place, count, verdict);
        }
        hinder();
        if (!load) this->load();
        int result_units = chance.below(4);
        set("COUNT", uint32_t(count));
        set("RESULT_UNITS", uint32_t(result_units));
        begin(load ? COMMAND_LOAD : COMMAND_RUN);
        send(sent);
        while (!queue.empty()) {
            if (!(get("STATUS") & BUSY)) break;
        }
        int waited = rest();
        end(verdict.errors, KINDS[kind].name);
        if (!queue.empty()) wrong(cycle, "the packet is not swallowed");
        if (load) {
            if (get("STATUS") & LOADED) wrong(cycle, "LOADED after a faulty LOAD");
        } else {
            results(verdict.units, result_units);
            dump(verdict.units);
        }
        recover(kind, place, waited);
        return true;
    }
    void hinder() {
        gaps_in = chance.percent(50) ? 0 : chance.below(80);
        gaps_out = chance.percent(50) ? 0 : chance.below(80);
    }
    // Begins a LOAD or a RUN, of which `beats` beats may come, and goes on for some cycles.
    int started_command(bool load, bool all) {
        hinder();
        int count = load ? 1 : 1 + chance.below(std::min(8, units));
        if (!load) this->load();
        set("COUNT", uint32_t(count));
        set("RESULT_UNITS", uint32_t(chance.below(3)));
        begin(load ? COMMAND_LOAD : COMMAND_RUN);
        std::vector<Beat> sent = packed(load ? given.load : flat(0, count));
        send(sent);
        if (!all) allowed = uint64_t(chance.below(int(sent.size())));
        for (int n = chance.below(60 + 3 * int(sent.size()) + (all ? 0 : 2 * clean)); n--;) tick();
        return count;
    }
    void given_up(int kind) {
        bool load = KINDS[kind].load;
        started_command(load, false);
        set("CONTROL", ABORT);
        int waited = rest();
        end(0, "ABORT");
        if (load) {
            if (get("STATUS") & LOADED) wrong(cycle, "LOADED after an ABORT");
        } else {
            int counted = int(get("SAMPLES"));
            Words all, wanted;
            while (!packets.empty()) { Words words = received(); all.insert(all.end(), words.begin(), words.end()); }
            for (int unit = 0; unit < counted; ++unit)
                wanted.insert(wanted.end(), given.results[unit].begin(), given.results[unit].end());
            if (counted && all != wanted) wrong(cycle, "results of an aborted RUN");
            forget();
            dump(counted);
        }
        recover(kind, 0, waited);
    }
    void cut(int kind) {
        bool hard = KINDS[kind].name == "aresetn";
        started_command(KINDS[kind].load, true);
        if (hard) {
            reset = true;
            tick();
            reset = false;
            forget();
            packet.clear();
            packets.clear();
        } else {
            set("CONTROL", RESET);
        }
        if (get("STATUS") & LOADED) wrong(cycle, "LOADED after a reset");
        int waited = rest();
        // Beats that wait for a command are the host's to cancel; a packet that was begun has been swallowed.
        if (opened) wrong(cycle, "a packet that was begun is not swallowed");
        recover(kind, 0, waited);
    }
    void refused(int kind) {
        int count = started_command(false, false);
        allowed = 0;
        if (get("STATUS") & BUSY) {
            bool access = KINDS[kind].name == "access against the table";
            uint32_t address = at("COMMAND"), code = chance.below(5);
            if (access) {
                static const char *fixed[] = {"ID", "VERSION", "FINGERPRINT", "SAMPLES", "CYCLES_LO", "WAIT_IN"};
                address = chance.percent(50) ? at(fixed[chance.below(6)]) : 0x40 + 4 * uint32_t(chance.below(0x3F0));
                if (read(at("COMMAND")) != 2 || word) wrong(cycle, "COMMAND can be read");
                if (address >= 0x40 && (read(address) != 2 || word)) wrong(cycle, "an address without a register can be read");
            }
            if (write(address, code) != 2) wrong(cycle, "a write that must be refused is not");
        }
        allowed = ~uint64_t(0);
        end(0, KINDS[kind].name);
        int counted = int(get("SAMPLES"));
        if (counted != count) wrong(cycle, "a refused write disturbs the RUN");
        packets.clear();
        dump(count);
        recover(kind, 0, 0);
    }
    void empty(int kind) {
        hinder();
        bool zero = KINDS[kind].name == "COUNT_ZERO";
        if (zero) load();
        else { set("CONTROL", RESET); rest(); }
        set("COUNT", zero ? 0 : 2);
        set("STATUS", ~0u);
        set("COMMAND", zero || chance.percent(50) ? COMMAND_RUN : COMMAND_DUMP);
        ++commands;
        end(zero ? COUNT_ZERO : NOT_LOADED, KINDS[kind].name);
        if (!packets.empty()) wrong(cycle, "a command that ends at once sends a packet");
        if (zero) dump(0);
        recover(kind, 0, 0);
    }
    void play(uint64_t wanted) {
        for (int place = 0; beats < wanted; place = (place + 1) % PLACES)
            for (int kind = 0; kind < int(KINDS.size()); ++kind) {
                const std::string &name = KINDS[kind].name;
                if (KINDS[kind].load && given.load.empty()) continue;
                doing = name + (KINDS[kind].load ? " in a LOAD" : "") + " at " + std::to_string(place);
                if (name == "ABORT") given_up(kind);
                else if (name == "RESET" || name == "aresetn") cut(kind);
                else if (name == "COMMAND while BUSY" || name == "access against the table") refused(kind);
                else if (name == "COUNT_ZERO" || name == "NOT_LOADED") empty(kind);
                else stream_fault(kind, place);
            }
    }
    void report() const {
        std::printf("{\"seed\": %llu, \"beats\": %llu, \"cycles\": %llu, \"commands\": %d, \"clean\": %d, \"places\": %d, \"kinds\": [",
                    (unsigned long long)started, (unsigned long long)beats, (unsigned long long)cycle, commands, clean, PLACES);
        for (size_t kind = 0; kind < KINDS.size(); ++kind) {
            const Seen &here = seen[kind];
            std::printf("%s\n{\"kind\": \"%s\", \"command\": \"%s\", \"placed\": %s, \"times\": %d, \"rest\": %d, \"recovery\": %d, "
                        "\"places\": {", kind ? "," : "", KINDS[kind].name.c_str(), KINDS[kind].load ? "LOAD" : "RUN",
                        KINDS[kind].placed ? "true" : "false", here.times, here.rest, here.longest);
            bool first = true;
            for (auto &place : here.places) {
                std::printf("%s\"%d\": %d", first ? "" : ", ", place.first, place.second);
                first = false;
            }
            std::printf("}}");
        }
        std::printf("]}\n");
    }
};
