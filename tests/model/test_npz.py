"""model.npz: the 41 arrays of dl4mt and Nematus, what is accepted beyond them, and what is refused by name."""

import zipfile

import numpy as np
import pytest

from minnmt.errors import UserError
from minnmt.model.npz import load_parameters, save_parameters, to_stored
from minnmt.model.parameters import named_arrays
from tests.conftest import random_parameters
from tests.test_arrays import load_arrays

Vs, Vt, E, H = 9, 8, 3, 4
C = 2 * H
GRU = {"W": (E, 2 * H), "b": (2 * H,), "U": (H, 2 * H), "Wx": (E, H), "bx": (H,), "Ux": (H, H)}
SHAPES = {
    "Wemb": (Vs, E), "Wemb_dec": (Vt, E),
    **{f"{part}_{name}": shape for part in ("encoder", "encoder_r", "decoder") for name, shape in GRU.items()},
    "ff_state_W": (C, H), "ff_state_b": (H,),
    "decoder_U_nl": (H, 2 * H), "decoder_b_nl": (2 * H,), "decoder_Ux_nl": (H, H), "decoder_bx_nl": (H,),
    "decoder_Wc": (C, 2 * H), "decoder_Wcx": (C, H), "decoder_W_comb_att": (H, C),
    "decoder_Wc_att": (C, C), "decoder_b_att": (C,), "decoder_U_att": (C, 1), "decoder_c_tt": (1,),
    "ff_logit_lstm_W": (H, E), "ff_logit_lstm_b": (E,), "ff_logit_prev_W": (E, E), "ff_logit_prev_b": (E,),
    "ff_logit_ctx_W": (C, E), "ff_logit_ctx_b": (E,), "ff_logit_W": (E, Vt), "ff_logit_b": (Vt,),
}  # fmt: skip


@pytest.fixture
def params(rng):
    return random_parameters(rng, Vs, Vt, E, H, dtype=np.float32)


@pytest.fixture
def arrays(params):
    return dict(to_stored(params))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


def assert_same(found, expected):
    for (name, a), (_, b) in zip(named_arrays(found), named_arrays(expected)):
        np.testing.assert_array_equal(a, b, err_msg=name)


def test_round_trip(path, params):
    save_parameters(path, params)
    assert_same(load_parameters(path), params)
    assert all(a.flags.c_contiguous and a.dtype == np.float32 for _, a in named_arrays(load_parameters(path)))


def test_the_file_holds_exactly_the_41_arrays_in_float32(path, params):
    save_parameters(path, params)
    with np.load(path, allow_pickle=False) as file:
        assert len(SHAPES) == 41
        assert {name: file[name].shape for name in file.files} == SHAPES
        assert {file[name].dtype for name in file.files} == {np.dtype(np.float32)}


def test_saving_twice_gives_the_same_arrays_and_no_other_file(path, params):
    save_parameters(path, params)
    save_parameters(path, params)
    assert [p.name for p in path.parent.iterdir()] == ["model.npz"]
    assert_same(load_parameters(path), params)


def test_float64_models_are_read_as_float32(path, arrays, params):
    np.savez(path, **{name: a.astype(np.float64) for name, a in arrays.items()})
    assert_same(load_parameters(path), params)


def test_compressed_and_fortran_ordered_models_are_read(path, arrays, params):
    np.savez_compressed(path, **{name: np.asfortranarray(a) for name, a in arrays.items()})
    assert_same(load_parameters(path), params)


def test_the_bookkeeping_of_nematus_is_ignored(path, arrays, params):
    extra = {"history_errs": np.array([3.0, 2.0]), "uidx": np.array(9000), "eidx": np.array(2), "lrate": np.array(1e-4)}
    np.savez(path, **arrays, **extra, bad_counter=np.array(0))
    assert_same(load_parameters(path), params)


def test_an_output_layer_tied_to_the_target_embedding(path, arrays):
    del arrays["ff_logit_W"]
    np.savez(path, **arrays)
    loaded = load_parameters(path)
    np.testing.assert_array_equal(loaded.softmax.W, loaded.trg_embedding)


def test_one_embedding_for_both_sides(path, rng):
    arrays = dict(to_stored(random_parameters(rng, Vt, Vt, E, H, dtype=np.float32)))
    del arrays["Wemb_dec"]
    np.savez(path, **arrays)
    loaded = load_parameters(path)
    np.testing.assert_array_equal(loaded.trg_embedding, loaded.src_embedding)


@pytest.mark.parametrize(
    "name, what",
    [
        ("encoder_W_lns", "layer normalisation"),
        ("encoder_r_Ux_lnb", "layer normalisation"),
        ("decoder_U_lnb", "layer normalisation"),
        ("ff_state_ln_s", "layer normalisation"),
        ("decoder_att_gamma1", "layer normalisation"),
        ("encoder_2_W", "deep model"),
        ("encoder_r_3_Ux", "deep model"),
        ("decoder_2_U", "deep model"),
        ("decoder_U_nl_drt_1", "deep transition"),
        ("encoder_U_drt_2", "deep transition"),
        ("Wemb1", "factors"),
        ("encoder_W_wns", "weight normalisation"),
        ("decoder_lemma_W", "decoder_lemma_W"),
    ],
)
def test_what_the_network_cannot_compute_is_refused_by_name(path, arrays, name, what):
    np.savez(path, **arrays, **{name: np.zeros(3, np.float32)})
    with pytest.raises(UserError, match=what) as error:
        load_parameters(path)
    assert name in str(error.value) and str(path) in str(error.value)


def test_a_pickled_member_is_never_run(path, arrays, tmp_path):
    """One that nobody needs is passed over, one in the place of an array is refused."""

    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "ran"), "w"))

    np.savez(path, **arrays, zipped_params=np.array([Bomb()], dtype=object))
    load_parameters(path)
    np.savez(path, **{**arrays, "Wemb": np.array([[Bomb()]], dtype=object)})
    with pytest.raises(UserError, match="Wemb.*pickled"):
        load_parameters(path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["Wemb", "decoder_c_tt", "encoder_r_Ux", "ff_logit_b"])
def test_a_missing_array_is_named(path, arrays, name):
    del arrays[name]
    np.savez(path, **arrays)
    with pytest.raises(UserError, match=rf"model.npz.*\b{name}\b"):
        load_parameters(path)


@pytest.mark.parametrize("name", list(SHAPES))
def test_a_wrong_shape_is_refused(path, arrays, name):
    arrays[name] = np.concatenate([arrays[name], arrays[name][-1:]])
    np.savez(path, **arrays)
    with pytest.raises(UserError, match="model.npz: the array .* has shape"):
        load_parameters(path) if name != "Wemb" else _also_check_vocabulary(path)


def _also_check_vocabulary(path):
    """Another number of source words is a valid model of another vocabulary: its other axis must fit, though."""
    arrays = load_arrays(path)
    arrays["Wemb"] = arrays["Wemb"][:, :-1]
    np.savez(path, **arrays)
    load_parameters(path)


@pytest.mark.parametrize("wrong", [np.zeros((), np.float32), np.zeros((2, 2, 2), np.float32)])
@pytest.mark.parametrize("name", ["Wemb", "ff_state_b", "decoder_U_att"])
def test_a_wrong_number_of_axes_is_refused(path, arrays, name, wrong):
    np.savez(path, **{**arrays, name: wrong})
    with pytest.raises(UserError, match=f"the array {name} has shape"):
        load_parameters(path)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused_with_their_array(path, arrays, bad):
    arrays["encoder_U"] = arrays["encoder_U"].copy()
    arrays["encoder_U"][1, 2] = bad
    np.savez(path, **arrays)
    with pytest.raises(UserError, match="encoder_U holds NaN"):
        load_parameters(path)


@pytest.mark.filterwarnings("ignore:overflow")
def test_numbers_too_large_for_float32_are_refused(path, arrays):
    arrays["encoder_U"] = np.full((H, 2 * H), 1e200)
    np.savez(path, **arrays)
    with pytest.raises(UserError, match="encoder_U"):
        load_parameters(path)


@pytest.mark.parametrize("dtype", [np.int64, np.complex64, "U4"])
def test_arrays_of_another_kind_are_refused(path, arrays, dtype):
    np.savez(path, **{**arrays, "ff_state_b": np.zeros(H, dtype)})
    with pytest.raises(UserError, match="ff_state_b"):
        load_parameters(path)


def test_a_truncated_file_is_refused_wherever_it_ends(path, params):
    save_parameters(path, params)
    whole = path.read_bytes()
    for end in [0, 1, 10, 100, *range(500, len(whole), 997), len(whole) - 1]:
        path.write_bytes(whole[:end])
        with pytest.raises(UserError, match="model.npz"):
            load_parameters(path)


def flipped(whole, rng, n):
    """The file with one bit turned over: everywhere, and more often in its headers (where the names are)."""
    headers = [i for i in range(len(whole)) if whole[i : i + 2] == b"PK"]
    for k in range(n):
        place = rng.integers(len(whole)) if k % 2 else min(rng.choice(headers) + rng.integers(0, 160), len(whole) - 1)
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.integers(8)
        yield int(place), bytes(damaged)


def test_a_flipped_bit_is_noticed_or_harmless(path, params, rng):
    save_parameters(path, params)
    noticed = 0
    for place, damaged in flipped(path.read_bytes(), rng, 400):
        path.write_bytes(damaged)
        try:
            loaded = load_parameters(path)
        except UserError:
            noticed += 1
            continue
        for (name, a), (_, b) in zip(named_arrays(loaded), named_arrays(params)):
            assert a.shape == b.shape and np.array_equal(a, b), f"byte {place}: {name} has changed unnoticed"
    assert noticed > 150


@pytest.mark.parametrize("offset, mask, meaning", [(8, 1, "encrypted"), (8, 0x20, "patched"), (10, 1, "method")])
def test_damaged_flags_in_the_table_of_contents(path, params, offset, mask, meaning):
    save_parameters(path, params)
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + offset] ^= mask
    path.write_bytes(data)
    with pytest.raises(UserError, match="model.npz"):
        load_parameters(path)


def test_a_header_that_claims_fewer_rows_is_noticed(path, rng):
    """The checksum covers the whole member, so all of it must be read, whatever its header says."""
    save_parameters(path, random_parameters(rng, 2001, Vt, E, H, dtype=np.float32))
    data = path.read_bytes()
    assert data.count(b"'shape': (2001, 3)") == 1  # Wemb, whose number of rows no other array repeats
    path.write_bytes(data.replace(b"'shape': (2001, 3)", b"'shape': (2000, 3)"))  # one bit
    with pytest.raises(UserError, match="model.npz is damaged"):
        load_parameters(path)


def test_a_single_array_is_not_a_model(tmp_path):
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(UserError, match=r"one.npy is a single array"):
        load_parameters(tmp_path / "one.npy")


def test_a_pickle_is_not_a_model(tmp_path):
    np.save(tmp_path / "one.npy", np.array([{}], dtype=object))
    with pytest.raises(UserError, match="single array"):
        load_parameters(tmp_path / "one.npy")


@pytest.mark.parametrize("content", [b"", b"hello, this is text\n", b"PK", b"\x00" * 300, b"PK\x03\x04" + b"\x00" * 90])
def test_other_files_are_not_models(path, content):
    path.write_bytes(content)
    with pytest.raises(UserError, match="model.npz is damaged or not"):
        load_parameters(path)


def test_another_zip_file_is_not_a_model(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("readme.txt", "hello")
    with pytest.raises(UserError, match="model.npz"):
        load_parameters(path)


def test_a_missing_file_and_a_directory(tmp_path):
    with pytest.raises(UserError, match="cannot read .*nothing.npz: no such file"):
        load_parameters(tmp_path / "nothing.npz")
    with pytest.raises(UserError, match="is not a file"):
        load_parameters(tmp_path)
